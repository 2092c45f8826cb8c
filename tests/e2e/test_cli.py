"""`orlop put`, `get`, `stat`, `rm`, `ls`, `locations`: against real daemons, over bad lines."""

import json
import os
import pty
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from blob import EMPTY, KIB, MIB, Blob
from cutting_proxy import CuttingProxy
from daemon import BINARY, Daemon, free_port
from kraken_client import KrakenClient

DONE, FAILED, MISUSED = 0, 1, 2


def orlop(*args, port: int | str | None = None, cwd: Path | None = None, text: bool = True,
          timeout: float = 40) -> subprocess.CompletedProcess:
    origin = [] if port is None else ["-origin", f"127.0.0.1:{port}"]
    command, rest = str(args[0]), [str(arg) for arg in args[1:]]
    return subprocess.run([str(BINARY), command, *origin, *rest], text=text, cwd=cwd,
                          capture_output=True, timeout=timeout, check=False)


def file_of(blob: Blob, folder: Path, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(blob.data)
    return path


def test_files_go_in_and_come_back(daemon, tmp_path):
    blobs = [Blob.random(70 * MIB // 2, "large"), EMPTY, Blob.random(1, "byte")]
    files = [file_of(blob, tmp_path, f"file {i}\n") for i, blob in enumerate(blobs)]
    put = orlop("put", *files, port=daemon.port)
    assert (put.returncode, put.stderr) == (DONE, "")
    lines = put.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [blob.digest for blob in blobs]
    assert "\\x0a" in lines[0], "a name cannot forge a line"

    for blob in blobs:
        got = orlop("get", blob.digest, port=daemon.port, cwd=tmp_path)
        assert (got.returncode, got.stderr) == (DONE, "")
        assert (tmp_path / blob.hex).read_bytes() == blob.data
        piped = orlop("get", "-o", "-", blob.hex, port=daemon.port, text=False)
        assert (piped.returncode, piped.stdout, piped.stderr) == (DONE, blob.data, b"")


def test_json_lines_say_the_same_to_programs(daemon, tmp_path):
    blob = Blob.random(1000, "json")
    path = file_of(blob, tmp_path, 'a"b')
    entry = {"file": str(path), "digest": blob.digest, "size": 1000}
    for was_there in (False, True):
        put = orlop("put", "-json", path, port=daemon.port)
        assert json.loads(put.stdout) == entry | {"was_there": was_there}
    stat = orlop("stat", "--json", blob.hex, port=daemon.port)
    assert json.loads(stat.stdout) == {"digest": blob.digest, "size": 1000,
                                       "origin": f"127.0.0.1:{daemon.port}"}
    listed = json.loads(orlop("ls", "-json", port=daemon.port).stdout)
    assert (listed["digest"], listed["size"]) == (blob.digest, 1000)
    assert abs(listed["committed_at"] - time.time()) < 60
    where = json.loads(orlop("locations", "-json", blob.digest, port=daemon.port).stdout)
    with KrakenClient(daemon) as client:
        answer = client.request("GET", f"/blobs/{blob.digest}/locations")
    assert where["origins"] == answer.header("Origin-Locations")
    got = orlop("get", "-json", "-o", tmp_path / "back", blob.digest, port=daemon.port)
    assert json.loads(got.stdout) == entry | {"file": str(tmp_path / "back")}


def test_what_was_removed_is_gone_and_the_exit_code_says_so(daemon, tmp_path):
    blob = Blob.random(1000, "rm")
    orlop("put", file_of(blob, tmp_path), port=daemon.port)
    assert orlop("rm", blob.digest, port=daemon.port).returncode == DONE
    for command in ("rm", "stat", "get"):
        ran = orlop(command, blob.digest, port=daemon.port, cwd=tmp_path)
        assert ran.returncode == FAILED
        assert blob.digest in ran.stderr and "404" in ran.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"], "nothing half is left"


def test_a_list_of_several_pages_is_whole_and_in_order(daemon):
    blobs = [Blob(f"listed {i}".encode()) for i in range(1050)]
    with KrakenClient(daemon) as client:
        for blob in blobs:
            assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
    lines = orlop("ls", port=daemon.port).stdout.splitlines()
    assert [line.split()[0] for line in lines] == sorted(blob.digest for blob in blobs)


@pytest.mark.parametrize("args", [
    ["put"], ["get"], ["stat"], ["rm"], ["locations"], ["ls", "x"], ["get", "a" * 63],
    ["get", "a" * 64, "b" * 64], ["put", "-nope", "x"], ["put", "-origin"],
    ["put", "-origin", "https://x:1", "f"], ["put", "-origin", "x", "f"],
    ["put", "-origin", "x:0", "f"], ["stat", "-json=1", "a" * 64], ["rm", "-namespace", "x", "y"]])
def test_a_wrong_call_is_explained_and_sends_nothing(args):
    ran = orlop(*args)
    assert ran.returncode == MISUSED
    assert ran.stderr.startswith("orlop: ") and ran.stdout == ""


def test_files_that_cannot_be_read_do_not_stop_the_others(daemon, tmp_path):
    blob = Blob.random(1000, "good")
    os.mkfifo(tmp_path / "pipe")
    ran = orlop("put", tmp_path, tmp_path / "absent", tmp_path / "pipe", file_of(blob, tmp_path),
                port=daemon.port)
    assert ran.returncode == FAILED
    assert ran.stderr.count("\n") == 3 and blob.digest in ran.stdout


def test_a_put_goes_on_where_it_was_after_each_cut(daemon, tmp_path):
    blob = Blob.random(96 * MIB, "cut upload")
    cuts = [5 * MIB, 20 * MIB, 40 * MIB]
    with CuttingProxy(daemon.port, "up", cuts) as proxy:
        ran = orlop("put", file_of(blob, tmp_path), port=proxy.port)
        assert (ran.returncode, ran.stderr) == (DONE, "")
        assert proxy.connections == 4
    with KrakenClient(daemon) as client:
        client.assert_has(blob)


def test_a_get_goes_on_where_it_was_after_each_cut(daemon, tmp_path):
    blob = Blob.random(48 * MIB, "cut download")
    with KrakenClient(daemon) as client:
        assert client.upload(blob) == 200
    with CuttingProxy(daemon.port, "down", [1000, 7 * MIB, 30 * MIB]) as proxy:
        ran = orlop("get", "-o", tmp_path / "back", blob.digest, port=proxy.port)
        assert (ran.returncode, ran.stderr) == (DONE, "")
        assert proxy.connections == 4
    assert (tmp_path / "back").read_bytes() == blob.data


def test_a_put_survives_that_the_origin_is_killed_and_started_again(daemon, tmp_path):
    blob = Blob.random(200 * MIB, "killed")
    path = file_of(blob, tmp_path)
    with subprocess.Popen([str(BINARY), "put", "-origin", f"127.0.0.1:{daemon.port}", str(path)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as putting:
        while not daemon.upload_files() and putting.poll() is None:
            time.sleep(0.002)
        daemon.restart(kill9=True)
        output, errors = putting.communicate(timeout=40)
    assert (putting.returncode, errors) == (DONE, "")
    assert blob.digest in output
    with KrakenClient(daemon) as client:
        client.assert_has(blob)


def test_the_next_origin_is_asked_when_one_is_gone(daemon, tmp_path):
    blob = Blob.random(MIB, "next")
    both = f"127.0.0.1:{free_port()},127.0.0.1:{daemon.port}"
    for command in ([["put", file_of(blob, tmp_path)], ["stat", blob.digest], ["ls"],
                     ["get", "-o", tmp_path / "back", blob.digest]]):
        ran = orlop(command[0], "-origin", both, *command[1:])
        assert (ran.returncode, ran.stderr) == (DONE, "")
    assert (tmp_path / "back").read_bytes() == blob.data


def answer_each(listener: socket.socket, answer: bytes) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        with client:
            while client.recv(65536).find(b"\r\n\r\n") < 0:
                pass
            client.sendall(answer)


@pytest.fixture
def liar():
    """An origin that says the same to whoever asks whatever."""
    listener = socket.create_server(("127.0.0.1", 0))

    def start(answer: bytes) -> int:
        threading.Thread(target=answer_each, args=(listener, answer), daemon=True).start()
        return listener.getsockname()[1]
    yield start
    listener.close()


def http_200(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body


def test_wrong_bytes_never_get_the_name(liar, tmp_path):
    blob = Blob.random(100 * KIB, "true")
    (tmp_path / "kept").write_bytes(b"what was there")
    port = liar(http_200(bytes(100 * KIB)))
    ran = orlop("get", "-o", tmp_path / "kept", blob.digest, port=port)
    assert ran.returncode == FAILED
    assert "are those of sha256:" in ran.stderr
    assert (tmp_path / "kept").read_bytes() == b"what was there"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert orlop("get", "-o", "-", blob.digest, port=port, text=False).returncode == FAILED


def test_an_honest_origin_makes_up_for_a_lying_one(liar, daemon, tmp_path):
    blob = Blob.random(100 * KIB, "true")
    with KrakenClient(daemon) as client:
        assert client.upload(blob) == 200
    ran = orlop("get", "-origin", f"127.0.0.1:{liar(http_200(b'lie'))},127.0.0.1:{daemon.port}",
                "-o", tmp_path / "back", blob.digest)
    assert ran.returncode == DONE, ran.stderr
    assert (tmp_path / "back").read_bytes() == blob.data


NONSENSE = {
    "nothing": b"", "tls": b"\x16\x03\x01",
    "a large head": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
    "a status": b"HTTP/1.1 999 \r\n\r\n",
    "a length": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "half": http_200(b"{"),
    "no digest": http_200(b'{"blobs":[{"digest":"x"}],"next":null}'),
    "a circle": http_200(b'{"blobs":[],"next":"' + b"0" * 64 + b'"}'),
    "depth": http_200(b"[" * 100_000), "much": http_200(b"x" * (2 << 20))}


@pytest.mark.parametrize("kind", NONSENSE)
def test_nonsense_from_a_server_is_an_error_and_no_crash(liar, kind):
    ran = orlop("ls", port=liar(NONSENSE[kind]))
    assert ran.returncode == FAILED
    assert ran.stderr.startswith("orlop: ") and ran.stderr.count("\n") == 1


def test_an_interrupted_get_leaves_no_file(daemon, tmp_path):
    silent = socket.create_server(("127.0.0.1", 0))
    with subprocess.Popen([str(BINARY), "get", "-origin", f"127.0.0.1:{silent.getsockname()[1]}",
                           "-o", str(tmp_path / "back"), "0" * 64]) as getting:
        while not list(tmp_path.iterdir()):
            time.sleep(0.01)
        getting.send_signal(signal.SIGINT)
        assert getting.wait(10) == 128 + signal.SIGINT
    silent.close()
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_gets_a_bar_with_rate_and_a_pipe_gets_none(daemon, tmp_path):
    path = file_of(Blob.random(150 * MIB, "bar"), tmp_path)
    ours, theirs = pty.openpty()
    with subprocess.Popen([str(BINARY), "put", "-origin", f"127.0.0.1:{daemon.port}", str(path)],
                          stdout=subprocess.PIPE, stderr=theirs) as putting:
        output, _ = putting.communicate(timeout=40)
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 65536):
            seen += piece
    except OSError:
        pass  # The end of a terminal.
    os.close(ours)
    assert putting.returncode == DONE
    assert b"of 150.0 MiB" in seen and b"[####" in seen
    assert seen.endswith(b"\r\x1b[K"), "the line is left empty"
    assert b"MiB" not in output
