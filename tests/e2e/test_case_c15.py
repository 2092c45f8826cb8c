"""C15: keep-alive after an early error. The refusal can always be read, and what still comes of the
refused body is never taken for a request."""

import subprocess
import time

import pytest

from blob import KIB, MIB, Blob
from connection import Connection, chunked, request
from daemon import FULL, Daemon
from kraken_client import NAMESPACE, UNKNOWN_UPLOAD
from smuggled import ALL_LOGGED, HEALTH_AND_CLOSE, SMUGGLED, assert_not_smuggled, log_end

pytestmark = pytest.mark.usefixtures("still_alive")

BLOB = Blob(b"0123456789")
STORED = Blob.random(10, "c15")
UNKNOWN = f"/namespace/{NAMESPACE}/blobs/{BLOB.digest}/uploads/{UNKNOWN_UPLOAD}"
THERE = f"/namespace/{NAMESPACE}/blobs/{STORED.digest}/uploads/{UNKNOWN_UPLOAD}"
UPLOAD_BYTES_MAX = 300 * MIB
ENDLESS = {"Content-Range": "0-10", "Content-Length": 10**12}
LARGE, SMALL = 200 * MIB, 64 * KIB

# What is refused from the head alone: method, path, fields, status.
REFUSALS = {
    "an unknown upload": ("PATCH", UNKNOWN, {"Content-Range": "0-10"}, 404),
    "a bad range": ("PATCH", UNKNOWN, {"Content-Range": "bytes 0-9/10"}, 400),
    "no range": ("PATCH", UNKNOWN, {}, 400),
    "a bad digest": ("PATCH", UNKNOWN.replace("sha256:", "sha256:g"), {"Content-Range": "0-9"},
                     400),
    "a blob that is here": ("PATCH", THERE, {"Content-Range": "0-10"}, 409),
    "no such path": ("PATCH", "/nothing", {}, 404),
    "a wrong method": ("PATCH", "/health", {}, 405),
    "an operator's path": ("DELETE", f"/cas/{STORED.hex}", {"Forwarded": "for=x"}, 403),
    "a bad name for a PUT": ("PUT", "/cas/abc", {}, 400),
}
refusals = pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS.keys())


@pytest.fixture(scope="module")
def shared_daemon():
    with Daemon(ALL_LOGGED | {"store.upload_bytes_max": str(UPLOAD_BYTES_MAX)}) as daemon:
        yield daemon


@pytest.fixture(autouse=True)
def stored(shared_client):
    assert shared_client.request("PUT", f"/cas/{STORED.hex}", STORED.data).status in (200, 201)


def body_of(size: int) -> bytes:
    return (SMUGGLED * (size // len(SMUGGLED) + 1))[:size]


@refusals
@pytest.mark.parametrize("size", [1, SMALL, 256 * KIB])
def test_a_small_body_is_drained_and_the_connection_goes_on(shared_daemon, refusal, size):
    method, path, fields, status = refusal
    log_from = log_end(shared_daemon)
    with Connection(shared_daemon.port) as connection:
        for _ in range(3):
            connection.send(request(method, path, fields, body_of(size)))
            answer = connection.answer()
            assert (answer.status, answer.header("Connection")) == (status, None)
        connection.send(HEALTH_AND_CLOSE)
        assert connection.answer().body == b"OK\n"
    assert_not_smuggled(shared_daemon, log_from)


@refusals
@pytest.mark.parametrize("careless", [False, True], ids=["watching", "sending all first"])
def test_a_large_body_never_hides_the_refusal(shared_daemon, refusal, careless):
    method, path, fields, status = refusal
    log_from = log_end(shared_daemon)
    body = body_of(32 * MIB)
    with Connection(shared_daemon.port) as connection:
        connection.send(request(method, path, fields | {"Content-Length": len(body)}))
        if careless:
            connection.send(body)
        else:
            connection.send_until_answered(body)
        answer = connection.answer()
        assert (answer.status, answer.header("Connection")) == (status, "close")
        connection.half_close()
        assert connection.is_closed()
        # A reset could overtake the answer in a client that reads late.
        assert careless or not connection.was_reset
    assert_not_smuggled(shared_daemon, log_from)


@refusals
def test_a_chunked_body_never_hides_the_refusal(shared_daemon, refusal):
    """However small: nobody can know that it is."""
    method, path, fields, status = refusal
    log_from = log_end(shared_daemon)
    with Connection(shared_daemon.port) as connection:
        connection.send(request(method, path, fields | {"Transfer-Encoding": "chunked"})
                        + chunked(body_of(SMALL)) + SMUGGLED)
        answer = connection.answer()
        assert (answer.status, answer.header("Connection")) == (status, "close")
        connection.half_close()
        assert connection.is_closed()
    assert_not_smuggled(shared_daemon, log_from)


@pytest.mark.limit(240)
def test_200_mib_for_an_unknown_upload_are_404_and_close(shared_daemon):
    """Sent in full, as the simplest of clients does, before the answer is looked at."""
    log_from = log_end(shared_daemon)
    part = body_of(8 * MIB)
    for _ in range(20 if FULL else 2):
        with Connection(shared_daemon.port, timeout=60) as connection:
            fields = {"Content-Range": f"0-{LARGE}", "Content-Length": LARGE}
            connection.send(request("PATCH", UNKNOWN, fields))
            for _ in range(LARGE // len(part)):
                connection.send(part)
            answer = connection.answer()
            assert (answer.status, answer.header("Connection")) == (404, "close")
            connection.half_close()
            assert connection.is_closed() and not connection.was_reset
    assert_not_smuggled(shared_daemon, log_from)


@pytest.mark.parametrize("path, announced, status", [
    (UNKNOWN, 2 * UPLOAD_BYTES_MAX, 404), (f"/cas/{BLOB.hex}", 2 * UPLOAD_BYTES_MAX, 400)])
def test_more_than_an_upload_may_have_is_refused_at_once(shared_daemon, path, announced, status):
    method = "PUT" if path.startswith("/cas") else "PATCH"
    fields = {"Content-Range": f"0-{announced}", "Content-Length": announced}
    with Connection(shared_daemon.port) as connection:
        connection.send(request(method, path, fields))
        answer = connection.answer()
        assert (answer.status, answer.header("Connection")) == (status, "close")


def test_a_chunk_beyond_what_an_upload_may_have_is_400_and_the_upload_stays(shared_daemon,
                                                                            shared_client):
    blob = Blob.random(10, "too big")
    uid = shared_client.begin(blob.digest)
    end = UPLOAD_BYTES_MAX + 1
    with Connection(shared_daemon.port) as connection:
        fields = {"Content-Range": f"0-{end}", "Content-Length": end}
        connection.send(request("PATCH", shared_client.upload_path(blob.digest, uid), fields))
        connection.send_until_answered(body_of(8 * MIB))
        answer = connection.answer()
        assert (answer.status, answer.header("Connection")) == (400, "close")
    assert shared_client.patch(blob.digest, uid, 0, blob.data).status == 200
    assert shared_client.commit(blob.digest, uid).status == 200


def test_what_still_comes_is_read_for_a_bounded_time(shared_daemon):
    with Connection(shared_daemon.port) as connection:
        connection.send(request("PATCH", UNKNOWN, ENDLESS))
        assert connection.answer().status == 404
        begun = time.monotonic()
        connection.socket.settimeout(0.2)
        while time.monotonic() - begun < 30:
            try:
                connection.send(b"x")
            except (BrokenPipeError, ConnectionResetError):
                break
            time.sleep(0.05)
        assert 3 < time.monotonic() - begun < 10


@pytest.mark.limit(120)
def test_what_still_comes_is_read_up_to_a_bounded_count(shared_daemon):
    """A fast client could send gigabytes within the bounded time."""
    part, sent = bytes(MIB), 0
    with Connection(shared_daemon.port) as connection:
        connection.send(request("PATCH", UNKNOWN, ENDLESS))
        assert connection.answer().status == 404
        try:
            while sent < 2048 * MIB:
                connection.send(part)
                sent += len(part)
        except (BrokenPipeError, ConnectionResetError):
            pass
    assert sent < 400 * MIB, "256 MiB and what the socket's buffers hold"


@pytest.mark.limit(300)
@pytest.mark.parametrize("size, rounds", [(SMALL, 200), (LARGE, 200 if FULL else 15)],
                         ids=["64 KiB", "200 MiB"])
def test_curl_reads_the_refusal_every_time(shared_daemon, tmp_path, size, rounds):
    source = tmp_path / "source"
    with source.open("wb") as file:
        file.truncate(size)
    patch = ["-X", "PATCH", "-H", "Expect:", "-H", "Content-Range: 0-9", "-T", str(source)]
    show = ["-sS", "-v", "-o", "/dev/null", "-w", "%{http_code} %{num_connects}\n"]
    for _ in range(rounds):
        done = subprocess.run(
            ["curl", *show, *patch, shared_daemon.url + UNKNOWN,
             "--next", *show, shared_daemon.url + "/health"], capture_output=True, timeout=60)
        said = done.stderr.decode(errors="replace").lower()
        assert done.returncode == 0 and "reset" not in said, said[-2000:]
        # The second number: how many connections had to be opened for it.
        assert done.stdout.split() == [b"404", b"1", b"200", b"0" if size == SMALL else b"1"], said
