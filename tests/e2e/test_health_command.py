"""`orlop health`, and what the service manager is told."""

import json
import os
import socket
import subprocess
import time

import pytest

from daemon import BINARY, REPOSITORY, Daemon, free_port

READY, NOT_READY, MISUSED = 0, 1, 2


def health(*args: str, port: int | None = None) -> subprocess.CompletedProcess:
    origin = [] if port is None else ["-origin", f"127.0.0.1:{port}"]
    return subprocess.run([str(BINARY), "health", *origin, *args], text=True, capture_output=True,
                          timeout=20, check=False)


def test_a_ready_origin_is_healthy(daemon):
    ran = health(port=daemon.port)
    assert (ran.returncode, ran.stdout, ran.stderr) == (READY, "ready\n", "")
    assert json.loads(health("-json", port=daemon.port).stdout) == {"ready": True}
    by_variable = subprocess.run([str(BINARY), "health"], check=False, timeout=20,
                                 env=os.environ | {"ORLOP_ORIGIN": f"127.0.0.1:{daemon.port}"})
    assert by_variable.returncode == READY


def test_nobody_there_is_not_healthy():
    ran = health(port=free_port())
    assert ran.returncode == NOT_READY and "Connection refused" in ran.stdout
    report = json.loads(health("-json", port=free_port()).stdout)
    assert report["ready"] is False and "refused" in report["reason"]


@pytest.mark.settings({"server.lame_duck": "5s"})
def test_a_draining_origin_is_not_healthy_and_says_why(daemon):
    daemon.terminate()
    time.sleep(0.3)
    ran = health(port=daemon.port)
    assert ran.returncode == NOT_READY and "draining" in ran.stdout
    assert daemon.exit_code(20) == 0


@pytest.mark.parametrize("drips", [b"", b"H"])
def test_one_who_never_gets_to_an_answer_is_not_waited_for(drips):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        begun = time.monotonic()
        with subprocess.Popen([str(BINARY), "health", "-origin",
                               f"127.0.0.1:{silent.getsockname()[1]}"]) as asking:
            client, _ = silent.accept()
            with client:
                while asking.poll() is None and time.monotonic() - begun < 10:
                    client.send(drips)
                    time.sleep(0.1)
        assert asking.returncode == NOT_READY
        assert 2.5 < time.monotonic() - begun < 6


def test_a_wrong_call_is_not_an_unhealthy_origin():
    assert health("x").returncode == MISUSED
    assert health("-origin", "nowhere").returncode == MISUSED


@pytest.mark.parametrize("abstract", [False, True])
def test_the_service_manager_hears_of_ready_and_of_stopping(tmp_path, monkeypatch, abstract):
    name = f"orlop-{os.getpid()}-{tmp_path.name}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(("\0" + name) if abstract else name)
        manager.settimeout(10)
        monkeypatch.setenv("NOTIFY_SOCKET", ("@" + name) if abstract else name)
        with Daemon() as daemon:
            assert manager.recv(100) == b"READY=1"
            daemon.terminate()
            assert manager.recv(100) == b"STOPPING=1"
            assert daemon.exit_code(10) == 0


def test_a_service_manager_that_is_gone_or_nonsense_is_no_trouble(monkeypatch):
    for name in ("/nonexistent/socket", "relative", "@", "/" + "x" * 200):
        monkeypatch.setenv("NOTIFY_SOCKET", name)
        with Daemon() as daemon:
            assert health(port=daemon.port).returncode == READY


def test_the_packaged_configuration_and_the_unit_s_command_are_right(tmp_path):
    unit = (REPOSITORY / "packaging/orlop.service").read_text()
    defaults = (REPOSITORY / "packaging/orlop.default").read_text()
    assert 'ORLOP_FLAGS=""' in defaults
    command = next(line for line in unit.splitlines() if line.startswith("ExecStart="))
    words = command.removeprefix("ExecStart=").split()
    assert words == ["/usr/bin/orlop", "serve", "-config", "/etc/orlop/orlop.yaml", "$ORLOP_FLAGS"]
    packaged = (REPOSITORY / "packaging/orlop.yaml").read_text()
    assert "/var/lib/orlop/" in packaged
    config = tmp_path / "orlop.yaml"
    config.write_text(packaged.replace("/var/lib/orlop/", f"{tmp_path}/"))
    others = {name: value for name, value in os.environ.items() if not name.startswith("ORLOP_")}
    ran = subprocess.run([str(BINARY), "check-config", "-config", str(config), "-blobserver-port",
                          str(free_port()), "-listen", "127.0.0.1"], capture_output=True, text=True,
                         timeout=30, check=False, env=others)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "no effect" not in ran.stdout + ran.stderr
