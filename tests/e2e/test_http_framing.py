"""Where one request ends and the next begins: any doubt is 400 and the end of the connection."""

import subprocess

import pytest

from blob import KIB, MIB, Blob
from connection import Connection, chunked, request
from kraken_client import NAMESPACE, UNKNOWN_UPLOAD, KrakenClient

# If this is ever answered, bytes of a body were taken for a request.
SMUGGLED = request("GET", "/SMUGGLED")
HEALTH_AND_CLOSE = request("GET", "/health", {"Connection": "close"})
BLOB = Blob(b"0123456789")
STARTS = f"/namespace/{NAMESPACE}/blobs/{Blob(b'absent').digest}/uploads"


def head(*lines: str, method: str = "POST", path: str = STARTS, version: str = "HTTP/1.1") -> bytes:
    return "\r\n".join([f"{method} {path} {version}", *lines, "", ""]).encode("latin-1")


AMBIGUOUS = {
    "length and chunked": head("Host: x", "Content-Length: 4", "Transfer-Encoding: chunked")
    + b"0\r\n\r\n" + SMUGGLED,
    "chunked and length": head("Host: x", "Transfer-Encoding: chunked", "Content-Length: 4")
    + b"0\r\n\r\n" + SMUGGLED,
    "two different lengths": head("Host: x", "Content-Length: 0", "Content-Length: 5") + SMUGGLED,
    "two lengths in one line": head("Host: x", "Content-Length: 0, 5") + SMUGGLED,
    "a signed length": head("Host: x", "Content-Length: +5") + b"12345" + SMUGGLED,
    "a negative length": head("Host: x", "Content-Length: -1") + SMUGGLED,
    "a hexadecimal length": head("Host: x", "Content-Length: 0x5") + b"12345" + SMUGGLED,
    "a length with a space in it": head("Host: x", "Content-Length: 1 2") + SMUGGLED,
    "an empty length": head("Host: x", "Content-Length:") + SMUGGLED,
    "a length above int64": head("Host: x", "Content-Length: 9223372036854775808") + SMUGGLED,
    "a length above uint64": head("Host: x", "Content-Length: 18446744073709551616") + SMUGGLED,
    "a space before the colon": head("Host: x", "Transfer-Encoding : chunked")
    + b"0\r\n\r\n" + SMUGGLED,
    "a length with a space before the colon": head("Host: x", "Content-Length : 5") + SMUGGLED,
    "chunked not last": head("Host: x", "Transfer-Encoding: chunked, gzip")
    + b"0\r\n\r\n" + SMUGGLED,
    "an unknown coding": head("Host: x", "Transfer-Encoding: xchunked") + b"0\r\n\r\n" + SMUGGLED,
    "chunked twice": head("Host: x", "Transfer-Encoding: chunked, chunked")
    + b"0\r\n\r\n" + SMUGGLED,
    "two codings in two lines": head("Host: x", "Transfer-Encoding: chunked",
                                     "Transfer-Encoding: identity") + b"0\r\n\r\n" + SMUGGLED,
    "bare LF line ends": b"GET /health HTTP/1.1\nHost: x\n\n" + SMUGGLED,
    "one bare LF": b"GET /health HTTP/1.1\r\nHost: x\nX-A: b\r\n\r\n" + SMUGGLED,
    "a bare CR": head("Host: x", "X-A: b\rc") + SMUGGLED,
    "a folded header": head("Host: x", "X-A: b", " c: d") + SMUGGLED,
    "a folded length": head("Host: x", "Content-Length:", " 5") + SMUGGLED,
    "a NUL in a header": head("Host: x", "X-A: b\0c") + SMUGGLED,
    "a NUL in a name": head("Host: x", "X\0A: b") + SMUGGLED,
    "a header without a colon": head("Host: x", "nothing") + SMUGGLED,
    "a header without a name": head("Host: x", ": value") + SMUGGLED,
    "no host": head("X-A: b") + SMUGGLED,
    "two hosts": head("Host: x", "Host: y") + SMUGGLED,
    "HTTP/1.0 and chunked": head("Host: x", "Transfer-Encoding: chunked", version="HTTP/1.0")
    + b"0\r\n\r\n" + SMUGGLED,
    "a line of garbage": b"GARBAGE\r\n\r\n" + SMUGGLED,
    "two spaces": b"GET  /health HTTP/1.1\r\nHost: x\r\n\r\n" + SMUGGLED,
    "no version": b"GET /health\r\nHost: x\r\n\r\n" + SMUGGLED,
    "a version of nonsense": b"GET /health HTTP/x.y\r\nHost: x\r\n\r\n" + SMUGGLED,
    "a space in the target": b"GET /hea lth HTTP/1.1\r\nHost: x\r\n\r\n" + SMUGGLED,
    "a control byte in the target": b"GET /hea\x01lth HTTP/1.1\r\nHost: x\r\n\r\n" + SMUGGLED,
    "a handshake of TLS": bytes.fromhex("16030100a5010000a10303") + b"\xaa" * 155 + b"\r\n\r\n",
}


@pytest.mark.parametrize("sent", AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
def test_ambiguous_framing_is_400_and_the_end(shared_daemon, sent):
    logged = len(shared_daemon.log().encode())
    with Connection(shared_daemon.port) as connection:
        connection.send(sent)
        answers = connection.answers_until_closed()
    assert [answer.status for answer in answers] == [400]
    assert (answers[0].header("Connection") or "").lower() == "close"
    assert "/SMUGGLED" not in shared_daemon.log(logged)
    with KrakenClient(shared_daemon) as client:
        assert client.request("GET", "/health").body == b"OK\n"


BAD_CHUNKS = {
    "not a number": b"zz\r\n0123456789\r\n0\r\n\r\n",
    "an empty size": b"\r\n0123456789\r\n0\r\n\r\n",
    "a negative size": b"-a\r\n0123456789\r\n0\r\n\r\n",
    "0x before the size": b"0xa\r\n0123456789\r\n0\r\n\r\n",
    "a size that overflows": b"FFFFFFFFFFFFFFFFF\r\n0123456789\r\n0\r\n\r\n",
    "a size that wraps to ten": b"1000000000000000a\r\n0123456789\r\n0\r\n\r\n",
    "a bare LF after the size": b"a\n0123456789\r\n0\r\n\r\n",
    "a bare LF in an extension": b"a;x=\ny\r\n0123456789\r\n0\r\n\r\n",
    "no line end after the data": b"a\r\n01234567890\r\n\r\n",
    "data longer than its size": b"5\r\n0123456789\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("body", BAD_CHUNKS.values(), ids=BAD_CHUNKS.keys())
def test_a_bad_chunk_is_400_and_the_end_and_leaves_the_upload_unchanged(daemon, client, body):
    uid = client.begin(BLOB.digest)
    path = client.upload_path(BLOB.digest, uid)
    for method, target in [("PATCH", path), ("PUT", f"/cas/{BLOB.hex}")]:
        fields = {"Content-Range": "0-10", "Transfer-Encoding": "chunked"}
        with Connection(daemon.port) as connection:
            connection.send(request(method, target, fields) + body + SMUGGLED)
            answers = connection.answers_until_closed()
        assert [answer.status for answer in answers] == [400], target
    assert "/SMUGGLED" not in daemon.log()
    client.assert_lacks(BLOB)
    assert client.progress(BLOB.digest, uid) == 0
    assert client.patch(BLOB.digest, uid, 0, BLOB.data).status == 200
    assert client.commit(BLOB.digest, uid).status == 200


def test_chunks_with_extensions_and_trailers_are_fine(daemon, client):
    uid = client.begin(BLOB.digest)
    fields = {"Content-Range": "0-10", "Transfer-Encoding": "Chunked"}
    body = b"3;name=value\r\n012\r\n0007\r\n3456789\r\n0\r\nX-Trailer: y\r\n\r\n"
    with Connection(daemon.port) as connection:
        connection.send(request("PATCH", client.upload_path(BLOB.digest, uid), fields) + body
                        + request("PUT", client.upload_path(BLOB.digest, uid)) + HEALTH_AND_CLOSE)
        assert [a.status for a in connection.answers_until_closed()] == [200, 200, 200]
    client.assert_has(BLOB)


@pytest.mark.parametrize("fields", [{"Content-Length": len(SMUGGLED)},
                                    {"Transfer-Encoding": "chunked"}], ids=["length", "chunked"])
@pytest.mark.parametrize("path", ["/health", f"/cas/{BLOB.hex}", "/nothing",
                                  f"/namespace/n/blobs/{BLOB.digest}",
                                  f"/blobs/{BLOB.digest}/locations"])
def test_the_body_of_a_get_is_never_a_request(shared_daemon, path, fields):
    body = SMUGGLED if "Content-Length" in fields else chunked(SMUGGLED)
    with KrakenClient(shared_daemon) as client:
        assert client.request("PUT", f"/cas/{BLOB.hex}", BLOB.data).status in (200, 201)
    logged = len(shared_daemon.log().encode())
    with Connection(shared_daemon.port) as connection:
        connection.send(request("GET", path, fields) + body + HEALTH_AND_CLOSE)
        answers = connection.answers_until_closed()
    assert "/SMUGGLED" not in shared_daemon.log(logged)
    # Either the body was read and dropped, or the connection ended after the first answer.
    assert len(answers) in (1, 2)
    if len(answers) == 2:
        assert (answers[1].status, answers[1].body) == (200, b"OK\n")


@pytest.mark.parametrize("fields", [{"X-Filler": "f" * 256 * KIB},
                                    {f"X-{number}": "f" * 20 for number in range(10000)}],
                         ids=["one long line", "many lines"])
def test_a_header_above_the_limit_is_431(shared_daemon, fields):
    with Connection(shared_daemon.port) as connection:
        connection.send_until_answered(request("GET", "/health", fields))
        assert connection.answer().status == 431
        assert connection.is_closed()


def test_a_target_above_the_limit_is_refused(shared_daemon):
    with Connection(shared_daemon.port) as connection:
        connection.send_until_answered(request("GET", "/" + "a" * 256 * KIB))
        assert connection.answer().status in (400, 414, 431)


@pytest.mark.parametrize("method", ["FOO", "get", "PRI", "TRACE", "CONNECT"])
def test_an_unknown_method_is_refused(shared_daemon, method):
    with Connection(shared_daemon.port) as connection:
        connection.send(request(method, "/health", {"Connection": "close"}))
        assert connection.answer().status in (400, 405, 501)


def test_http_1_0_is_answered_and_closed(daemon, client):
    blob = Blob.random(100 * KIB)
    assert client.upload(blob) == 200
    for host in (None, "localhost"):
        with Connection(daemon.port) as connection:
            connection.send(request("GET", f"/cas/{blob.hex}", version="HTTP/1.0", host=host))
            answers = connection.answers_until_closed()
        assert [(a.status, a.body) for a in answers] == [(200, blob.data)]
        assert answers[0].header("Transfer-Encoding") is None
        assert answers[0].header("Content-Length") == str(blob.size)


def test_an_upload_through_kraken_s_nginx(daemon, client):
    """It speaks HTTP/1.0 with Host: localhost and Connection: close, a connection a request."""
    blob = Blob.random(100 * KIB)

    def send(method: str, path: str, fields: dict, body: bytes = b""):
        with Connection(daemon.port) as connection:
            connection.send(request(method, path, {"Connection": "close"} | fields, body,
                                    version="HTTP/1.0", host="localhost"))
            answers = connection.answers_until_closed()
        assert len(answers) == 1
        assert answers[0].status == 200 and answers[0].is_empty(), answers
        return answers[0]

    uploads = f"{client.blob_path(blob.digest)}/uploads"
    upload = f"{uploads}/{send('POST', uploads, {'Content-Length': 0}).header('Location')}"
    send("PATCH", upload, {"Content-Range": f"0-{blob.size}"}, blob.data)
    send("PUT", upload, {})
    client.assert_has(blob)


def test_twenty_pipelined_gets_are_answered_in_order(daemon, client):
    blobs = [Blob.random(1 + number * 3000, number) for number in range(20)]
    for blob in blobs:
        assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
    requests = [request("GET", f"/cas/{blob.hex}") for blob in blobs]
    with Connection(daemon.port) as connection:
        connection.send(b"".join(requests))
        assert [connection.answer().body for _ in blobs] == [blob.data for blob in blobs]
        connection.send(b"\r\n" + HEALTH_AND_CLOSE)  # An empty line before a request is skipped.
        assert connection.answer().body == b"OK\n"
        assert connection.is_closed()


@pytest.mark.parametrize("one_byte_at_a_time", [False, True])
def test_a_pipelined_upload(daemon, client, one_byte_at_a_time):
    uid = client.begin(BLOB.digest)
    path, upload = client.blob_path(BLOB.digest), client.upload_path(BLOB.digest, uid)
    sent = (request("GET", "/health")
            + request("POST", f"{client.blob_path(Blob(b'absent').digest)}/uploads")
            + request("PATCH", upload, {"Content-Range": "0-10"}, BLOB.data)
            + request("HEAD", f"/internal{path}?local=true")
            + request("PUT", upload)
            + request("HEAD", f"/internal{path}?local=true")
            + request("GET", path)
            + request("GET", f"/namespace/n/blobs/sha256:{'0' * 64}")
            + HEALTH_AND_CLOSE)
    methods = ["GET", "POST", "PATCH", "HEAD", "PUT", "HEAD", "GET", "GET", "GET"]
    with Connection(daemon.port) as connection:
        if one_byte_at_a_time:
            for byte in sent:
                connection.send(bytes([byte]))
        else:
            connection.send(sent)
        answers = [connection.answer(method) for method in methods]
        assert connection.is_closed()
    assert [a.status for a in answers] == [200, 200, 200, 404, 200, 200, 200, 404, 200]
    assert answers[6].body == BLOB.data
    assert answers[8].body == b"OK\n"


def test_a_small_body_after_an_early_error_leaves_the_connection_usable(daemon, client):
    path = client.upload_path(BLOB.digest, UNKNOWN_UPLOAD)
    body = SMUGGLED * 1500
    with Connection(daemon.port) as connection:
        for fields, status in [({"Content-Range": f"0-{len(body)}"}, 404),
                               ({"Content-Range": "bytes 0-9/10"}, 400)] * 20:
            connection.send(request("PATCH", path, fields, body))
            assert connection.answer().status == status
        connection.send(HEALTH_AND_CLOSE)
        assert connection.answer().body == b"OK\n"
    assert "/SMUGGLED" not in daemon.log()


@pytest.mark.parametrize("careless", [False, True], ids=["watching", "sending all first"])
def test_a_big_body_never_hides_an_early_error(daemon, client, careless):
    stored = Blob.random(10)
    assert client.upload(stored) == 200
    body = SMUGGLED * (32 * MIB // len(SMUGGLED))
    for digest, status in [(BLOB.digest, 404), (stored.digest, 409)] * 10:
        fields = {"Content-Range": f"0-{len(body)}", "Content-Length": len(body)}
        with Connection(daemon.port) as connection:
            connection.send(request("PATCH", client.upload_path(digest, UNKNOWN_UPLOAD), fields))
            if careless:
                try:
                    connection.send(body)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # The daemon has read enough; what counts is that its answer is there.
            else:
                connection.send_until_answered(body)
            assert connection.answer().status == status
            assert connection.is_closed()
            # A client that stops at the answer is let go in peace: a reset could overtake it.
            assert careless or not connection.was_reset
    assert "/SMUGGLED" not in daemon.log()


def test_curl_always_sees_an_early_error(daemon, client, tmp_path):
    (tmp_path / "large").write_bytes(bytes(64 * MIB))
    url = daemon.url + client.upload_path(BLOB.digest, UNKNOWN_UPLOAD)
    for _ in range(10):
        done = subprocess.run(
            ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-X", "PATCH", "-H", "Expect:",
             "-H", f"Content-Range: 0-{64 * MIB}", "-T", str(tmp_path / "large"), url],
            capture_output=True, timeout=30)
        assert (done.stdout, b"reset" in done.stderr) == (b"404", False), done
