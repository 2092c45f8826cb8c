"""The process: how it starts, how it refuses to start, how it ends."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from blob import MIB, Blob
from connection import Connection, request
from daemon import BINARY, LISTENING, Daemon
from kraken_client import KrakenClient


def half_a_chunk(daemon: Daemon, client: KrakenClient, blob: Blob, uid: str) -> Connection:
    connection = Connection(daemon.port)
    head = {"Content-Range": f"0-{blob.size}", "Content-Length": blob.size}
    connection.send(request("PATCH", client.upload_path(blob.digest, uid), head)
                    + blob.data[:blob.size // 2])
    time.sleep(0.3)
    return connection


@pytest.mark.settings({"server.lame_duck": "3s"})
def test_a_lame_duck_is_not_ready_but_serves(daemon, client):
    blob = Blob.random(MIB)
    assert client.upload(blob) == 200
    new, uid = Blob.random(MIB, "new"), client.begin(Blob.random(MIB, "new").digest)
    with half_a_chunk(daemon, client, new, uid) as running:
        begun = time.monotonic()
        daemon.terminate()
        time.sleep(0.5)
        with KrakenClient(daemon) as late:  # A new connection: the listener is still there.
            ready = late.request("GET", "/readiness")
            assert ready.status == 503
            assert ready.body not in (b"", b"OK\n"), "the reason is in the body"
            late.assert_has(blob)
            assert late.upload(Blob.random(1000, "late")) == 200
        running.send(new.data[new.size // 2:])
        assert running.answer().status == 200
        with KrakenClient(daemon) as late:
            assert late.commit(new.digest, uid).status == 200
    client.close()
    assert daemon.exit_code(within=10) == 0
    assert 2.5 < time.monotonic() - begun < 9
    daemon.start()
    for each in (blob, new, Blob.random(1000, "late")):
        client.assert_has(each)


def test_a_running_upload_finishes_before_the_end(daemon, client):
    blob = Blob.random(MIB)
    uid = client.begin(blob.digest)
    client.close()
    with half_a_chunk(daemon, client, blob, uid) as running:
        daemon.terminate()
        time.sleep(1.0)
        assert daemon.process.poll() is None, "the daemon did not wait for a running request"
        running.send(blob.data[blob.size // 2:])
        assert running.answer().status == 200
    assert daemon.exit_code(within=10) == 0
    daemon.start()
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


def test_idle_connections_do_not_delay_the_end(daemon):
    with Connection(daemon.port) as idle, Connection(daemon.port) as silent:
        idle.send(request("GET", "/health"))
        assert idle.answer().status == 200
        begun = time.monotonic()
        assert daemon.stop(within=10) == 0
        assert time.monotonic() - begun < 5
        assert idle.is_closed() and silent.is_closed()


@pytest.mark.settings({"server.drain_limit": "2s"})
def test_a_request_that_never_ends_is_given_up(daemon, client):
    blob = Blob.random(1000)
    uid = client.begin(blob.digest)
    client.close()
    with half_a_chunk(daemon, client, blob, uid):
        begun = time.monotonic()
        daemon.terminate()
        daemon.exit_code(within=15)
        assert time.monotonic() - begun > 1
    daemon.start()
    assert client.upload(blob) == 200
    client.assert_has(blob)


@pytest.mark.settings({"server.lame_duck": "50s"})
def test_a_second_signal_ends_it_at_once(daemon, client):
    blob = Blob.random(MIB)
    assert client.upload(blob) == 200
    client.close()
    daemon.terminate()
    time.sleep(0.5)
    assert daemon.process.poll() is None
    begun = time.monotonic()
    daemon.terminate()
    code = daemon.exit_code(within=5)
    assert time.monotonic() - begun < 2
    assert code not in (-signal.SIGABRT, -signal.SIGSEGV)
    daemon.start()
    client.assert_has(blob)
    daemon.kill9()  # It would wait out its 50 s.


def refusal(command: list[str]) -> str:
    """What a daemon says that must refuse to start."""
    done = subprocess.run(command, capture_output=True, timeout=15, text=True)
    assert done.returncode in (1, 2), (done.returncode, done.stderr)
    assert not LISTENING.search(done.stderr)
    return done.stderr


def test_a_data_folder_has_one_daemon(daemon, client):
    blob = Blob.random(1000)
    assert client.upload(blob) == 200
    said = refusal(daemon.command(port=0))
    assert str(daemon.data) in said
    assert any(word in said.lower() for word in ("lock", "in use", "another", "already")), said
    client.assert_has(blob)
    assert client.upload(Blob.random(1000, "after")) == 200


def test_the_lock_goes_with_its_process(daemon, client):
    blob = Blob.random(1000)
    assert client.upload(blob) == 200
    client.close()
    daemon.restart(kill9=True)
    client.assert_has(blob)


def test_a_taken_port_is_a_start_error(daemon):
    said = refusal(daemon.command(data=daemon.folder / "another"))
    assert str(daemon.port) in said
    with KrakenClient(daemon) as client:
        assert client.request("GET", "/readiness").body == b"OK\n"


def test_port_0_is_a_free_port_that_is_told(daemon):
    other = subprocess.Popen(daemon.command(port=0, data=daemon.folder / "other"),
                             stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        while (line := other.stderr.readline()) and not (told := LISTENING.search(line)):
            pass
        assert line, "the daemon ended without a listening line"
        port = int(told.group(1))
        assert port not in (0, daemon.port)
        with Connection(port) as connection:
            connection.send(request("GET", "/health"))
            assert connection.answer().body == b"OK\n"
    finally:
        other.terminate()
        other.stderr.close()
        assert other.wait(timeout=15) == 0


@pytest.mark.parametrize("arguments", [["--no-such-flag"], ["--set", "server.lame_dukc=1s"],
                                       ["--set", "server.lame_duck=soon"], ["--set", "nothing"],
                                       ["--blobserver-port", "99999"]])
def test_a_mistake_in_the_configuration_is_a_start_error(daemon, arguments):
    said = refusal(daemon.command(port=0, data=daemon.folder / "another") + arguments)
    assert arguments[-1].partition("=")[0].lstrip("-") in said


def test_the_health_of_a_daemon(client):
    for path in ("/health", "/readiness"):
        answer = client.request("GET", path)
        assert (answer.status, answer.body) == (200, b"OK\n")
        assert answer.header("Content-Length") == "3"
    assert client.request("GET", "/readiness?verbose").status == 200


def test_a_signal_during_the_start_ends_it(tmp_path):
    """Process 1 of a container has no default action: without a handler of ours it would go on."""
    fifo = tmp_path / "origin.yaml"
    os.mkfifo(fifo)  # Holds up the start for as long as nobody writes.
    process = subprocess.Popen([str(BINARY), "serve", "--config", str(fifo)],
                               stderr=subprocess.DEVNULL)
    try:
        status = Path(f"/proc/{process.pid}/status")
        until = time.monotonic() + 10
        while not int(status.read_text().partition("SigCgt:")[2].split()[0], 16) & 1 << 14:
            assert time.monotonic() < until, "it has no handler of SIGTERM"
            time.sleep(0.02)
        process.terminate()
        assert process.wait(timeout=10) == 0
    finally:
        process.kill()
        process.wait()
