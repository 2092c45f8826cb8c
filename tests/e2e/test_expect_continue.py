"""`Expect: 100-continue`: what the head alone decides is decided before the body is asked for."""

import pytest

from blob import Blob
from connection import Connection, request
from daemon import Daemon
from kraken_client import UNKNOWN_UPLOAD, KrakenClient

HERE = Blob.random(5000, "here")
NEW = Blob.random(5000, "new")
BYTES_MAX = 1 << 20
HUGE = BYTES_MAX + 1


@pytest.fixture(scope="module")
def small_daemon():
    """Takes uploads of a mebibyte at most; has one blob."""
    with Daemon({"store.upload_bytes_max": str(BYTES_MAX // (1 << 10)) + "KB"}) as running:
        with KrakenClient(running) as client:
            assert client.upload(HERE) == 200
        yield running


@pytest.fixture
def uid(small_daemon):
    with KrakenClient(small_daemon) as client:
        begun = client.begin(NEW.digest)
        yield begun
        client.cancel(NEW.digest, begun)


def ask(daemon: Daemon, method: str, path: str, head: dict | None = None,
        length: int = NEW.size) -> Connection:
    """Sends the head alone, as a client does that waits to be told to go on."""
    connection = Connection(daemon.port)
    connection.send(request(method, path, {"Expect": "100-continue", "Content-Length": length}
                            | (head or {})))
    return connection


def upload_path(kind: str, digest: str, uid: str) -> str:
    """`kind` is what stands before /blobs."""
    return f"{kind}/blobs/{digest}/uploads/{uid}"


PUBLIC, INTERNAL = "/namespace/n", "/internal"
WHOLE = {"Content-Range": f"0-{NEW.size}"}


@pytest.mark.parametrize("kind", [PUBLIC, INTERNAL])
@pytest.mark.parametrize("status, blob, upload, head, length", [
    (409, HERE, UNKNOWN_UPLOAD, {"Content-Range": "0-5000"}, 5000),
    (404, NEW, UNKNOWN_UPLOAD, WHOLE, NEW.size),
    (404, NEW, "no-upload-id", WHOLE, NEW.size),
    (400, NEW, None, {}, NEW.size),
    (400, NEW, None, {"Content-Range": "5000-0"}, NEW.size),
    (400, NEW, None, {"Content-Range": "bytes"}, NEW.size),
    (400, NEW, None, WHOLE, NEW.size + 1),
    (400, NEW, None, WHOLE, NEW.size - 1),
    (400, NEW, None, {"Content-Range": f"0-{HUGE}"}, HUGE),
], ids=["here", "unknown", "no id", "no range", "backwards", "not a range", "too long",
        "too short", "larger than upload_bytes_max"])
def test_a_chunk_that_cannot_be_taken_is_refused_before_its_body(small_daemon, uid, kind, status,
                                                                 blob, upload, head, length):
    path = upload_path(kind, blob.digest, upload or uid)
    with ask(small_daemon, "PATCH", path, head, length) as connection:
        answer = connection.answer()
        assert answer.status == status, answer
        # The client may send its body all the same, or may not: nobody can tell them apart.
        assert answer.header("Connection") == "close"
        assert connection.is_closed()
        assert not connection.was_reset


@pytest.mark.parametrize("method, path, status, length", [
    ("PUT", f"/cas/{HERE.hex}", 200, HERE.size),
    ("PUT", f"/cas/{NEW.hex.upper()}", 400, NEW.size),
    ("PUT", "/cas/short", 400, NEW.size),
    ("PUT", f"/cas/{NEW.hex}", 400, HUGE),
    ("POST", "/cas", 400, HUGE),
    ("PUT", "/cas", 405, NEW.size),
    ("PATCH", f"/cas/{NEW.hex}", 405, NEW.size),
    ("PUT", "/nowhere", 404, NEW.size),
    ("PUT", "/namespace/%zz/blobs/x/uploads/y", 400, NEW.size),
    ("POST", f"/namespace/n/blobs/{HERE.digest}/uploads", 409, NEW.size),
    ("POST", "/namespace/n/blobs/sha256:x/uploads", 400, NEW.size),
    ("POST", f"/internal/blobs/{HERE.digest}/uploads", 409, NEW.size),
    ("PUT", f"{PUBLIC}/blobs/{NEW.digest}/uploads/{UNKNOWN_UPLOAD}", 404, NEW.size),
    ("PUT", f"{INTERNAL}/blobs/{NEW.digest}/uploads/{UNKNOWN_UPLOAD}", 404, NEW.size),
    ("PUT", f"/internal/duplicate/namespace/n/blobs/x/uploads/{UNKNOWN_UPLOAD}", 400, 20),
    ("PUT", f"/internal/duplicate/namespace/n/blobs/{NEW.digest}/uploads/{UNKNOWN_UPLOAD}", 400,
     HUGE),
    ("POST", f"/internal/blobs/{HERE.digest}/metainfo", 400, NEW.size),
    ("POST", "/forcecleanup", 400, NEW.size),
])
def test_what_the_head_decides_is_answered_before_the_body(small_daemon, method, path, status,
                                                           length):
    with ask(small_daemon, method, path, length=length) as connection:
        answer = connection.answer()
        assert answer.status == status, answer
        assert answer.header("Connection") == "close"
        assert connection.is_closed()
        assert not connection.was_reset


@pytest.mark.parametrize("method, path", [
    ("DELETE", f"/cas/{HERE.hex}"), ("DELETE", f"/internal/blobs/{HERE.digest}"),
    ("POST", "/forcecleanup?ttl_hr=1"),
    ("POST", f"/internal/blobs/{HERE.digest}/metainfo?piece_length=4096")])
def test_who_may_not_is_told_so_before_the_body(small_daemon, method, path):
    head = {"X-Forwarded-For": "192.0.2.1"}
    with ask(small_daemon, method, path, head) as connection:
        answer = connection.answer()
        assert answer.status == 403, answer
        assert answer.header("Connection") == "close"


@pytest.mark.settings({"store.free_bytes_min": "8000GB"})
@pytest.mark.parametrize("method, path", [("PUT", f"/cas/{NEW.hex}"), ("POST", "/cas")])
def test_without_room_the_body_is_not_asked_for(daemon, method, path):
    with ask(daemon, method, path) as connection:
        answer = connection.answer()
        assert answer.status == 503, answer
        assert int(answer.header("Retry-After")) >= 1
        assert answer.header("Connection") == "close"


@pytest.mark.parametrize("kind", [PUBLIC, INTERNAL])
def test_a_chunk_that_is_welcome_is_asked_for(small_daemon, uid, kind):
    with ask(small_daemon, "PATCH", upload_path(kind, NEW.digest, uid), WHOLE) as connection:
        assert connection.answer().status == 100
        connection.send(NEW.data)
        answer = connection.answer()
        assert answer.status == 200
        assert answer.header("Connection") is None
        connection.send(request("GET", "/health"))
        assert connection.answer().body == b"OK\n"


@pytest.mark.parametrize("method, path", [("PUT", "/cas/{}"), ("POST", "/cas")])
def test_a_blob_that_is_welcome_is_asked_for(small_daemon, method, path):
    blob = Blob.random(4000, path)
    with ask(small_daemon, method, path.format(blob.hex), length=blob.size) as connection:
        assert connection.answer().status == 100
        connection.send(blob.data)
        assert connection.answer().status == 201


def test_a_duplicate_commit_that_could_be_is_asked_for(small_daemon, uid):
    body = b'{"Delay":0}'
    path = f"/internal/duplicate/namespace/n/blobs/{NEW.digest}/uploads/{UNKNOWN_UPLOAD}"
    with ask(small_daemon, "PUT", path, length=len(body)) as connection:
        assert connection.answer().status == 100
        connection.send(body)
        assert connection.answer().status == 404


def test_a_client_that_does_not_wait_is_not_told_to_go_on(small_daemon):
    """RFC 9110, section 10.1.1: the 100 may be left out if the body is here already."""
    blob = Blob.random(3000, "at once")
    with Connection(small_daemon.port) as connection:
        connection.send(request("PUT", f"/cas/{blob.hex}", {"Expect": "100-continue"}, blob.data))
        answer = connection.answer()
        if answer.status == 100:
            answer = connection.answer()
        assert answer.status == 201
