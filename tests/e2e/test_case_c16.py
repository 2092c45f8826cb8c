"""C16: ambiguous framing. Any doubt where one request ends and the next begins is 400 and the end
of the connection, and what may be a second request is answered by nobody."""

import pytest

from blob import Blob
from connection import Connection, request
from daemon import Daemon
from kraken_client import NAMESPACE
from smuggled import ALL_LOGGED, HEALTH_AND_CLOSE, SMUGGLED, assert_not_smuggled, log_end

pytestmark = pytest.mark.usefixtures("still_alive")

BLOB = Blob(b"0123456789")
STARTS = f"/namespace/{NAMESPACE}/blobs/{Blob(b'absent').digest}/uploads"


@pytest.fixture(scope="module")
def shared_daemon():
    with Daemon(ALL_LOGGED) as daemon:
        yield daemon


def head(*lines: str, method: str = "POST", path: str = STARTS, version: str = "HTTP/1.1") -> bytes:
    return "\r\n".join([f"{method} {path} {version}", *lines, "", ""]).encode("latin-1")


AMBIGUOUS = {
    "length and chunked": head("Host: x", "Content-Length: 4", "Transfer-Encoding: chunked")
    + b"0\r\n\r\n" + SMUGGLED,
    "chunked and length": head("Host: x", "Transfer-Encoding: chunked", "Content-Length: 4")
    + b"0\r\n\r\n" + SMUGGLED,
    "two different lengths": head("Host: x", "Content-Length: 0", "Content-Length: 5") + SMUGGLED,
    "two equal lengths": head("Host: x", "Content-Length: 5", "Content-Length: 5") + SMUGGLED,
    "two lengths in one line": head("Host: x", "Content-Length: 0, 5") + SMUGGLED,
    "one length twice in one line": head("Host: x", "Content-Length: 5, 5") + b"12345" + SMUGGLED,
    "a signed length": head("Host: x", "Content-Length: +5") + b"12345" + SMUGGLED,
    "a negative length": head("Host: x", "Content-Length: -1") + SMUGGLED,
    "a hexadecimal length": head("Host: x", "Content-Length: 0x5") + b"12345" + SMUGGLED,
    "a length with a space in it": head("Host: x", "Content-Length: 1 2") + SMUGGLED,
    "a length with a space behind it": head("Host: x", "Content-Length: 5 ") + b"12345" + SMUGGLED,
    "a length with a tab behind it": head("Host: x", "Content-Length: 5\t") + b"12345" + SMUGGLED,
    "an empty length": head("Host: x", "Content-Length:") + SMUGGLED,
    "a length above int64": head("Host: x", "Content-Length: 9223372036854775808") + SMUGGLED,
    "a length above uint64": head("Host: x", "Content-Length: 18446744073709551616") + SMUGGLED,
    "a space before the colon": head("Host: x", "Transfer-Encoding : chunked")
    + b"0\r\n\r\n" + SMUGGLED,
    "a length with a space before the colon": head("Host: x", "Content-Length : 5") + SMUGGLED,
    "chunked with a space behind it": head("Host: x", "Transfer-Encoding: chunked ")
    + b"0\r\n\r\n" + SMUGGLED,
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
    log_from = log_end(shared_daemon)
    with Connection(shared_daemon.port) as connection:
        connection.send(sent)
        answers = connection.answers_until_closed()
    assert [answer.status for answer in answers] == [400]
    assert answers[0].header("Connection") == "close"
    assert_not_smuggled(shared_daemon, log_from)


@pytest.mark.parametrize("sent", AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
def test_ambiguous_framing_is_400_and_the_end_also_byte_by_byte(shared_daemon, sent):
    log_from = log_end(shared_daemon)
    with Connection(shared_daemon.port) as connection:
        for byte in sent:
            connection.send(bytes([byte]))
        assert [answer.status for answer in connection.answers_until_closed()] == [400]
    assert_not_smuggled(shared_daemon, log_from)


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
def test_a_bad_chunk_is_400_and_the_end_and_leaves_the_upload_unchanged(shared_daemon,
                                                                        shared_client, body):
    log_from = log_end(shared_daemon)
    uid = shared_client.begin(BLOB.digest)
    upload = shared_client.upload_path(BLOB.digest, uid)
    for method, target in [("PATCH", upload), ("PUT", f"/cas/{BLOB.hex}"), ("POST", "/cas")]:
        fields = {"Content-Range": "0-10", "Transfer-Encoding": "chunked"}
        with Connection(shared_daemon.port) as connection:
            connection.send(request(method, target, fields) + body + SMUGGLED)
            answers = connection.answers_until_closed()
        assert [answer.status for answer in answers] == [400], target
        assert answers[0].header("Connection") == "close"
    assert_not_smuggled(shared_daemon, log_from)
    shared_client.assert_lacks(BLOB)
    assert shared_client.progress(BLOB.digest, uid) == 0
    assert shared_client.patch(BLOB.digest, uid, 0, BLOB.data).status == 200
    assert shared_client.commit(BLOB.digest, uid).status == 200
    shared_client.assert_has(BLOB)
    assert shared_client.delete(BLOB.digest).status == 202


def test_chunks_with_extensions_and_trailers_are_fine(daemon, client):
    uid = client.begin(BLOB.digest)
    fields = {"Content-Range": "0-10", "Transfer-Encoding": "Chunked"}
    body = b"3;name=value\r\n012\r\n0007\r\n3456789\r\n0\r\nX-Trailer: y\r\n\r\n"
    with Connection(daemon.port) as connection:
        connection.send(request("PATCH", client.upload_path(BLOB.digest, uid), fields) + body
                        + request("PUT", client.upload_path(BLOB.digest, uid)) + HEALTH_AND_CLOSE)
        assert [a.status for a in connection.answers_until_closed()] == [200, 200, 200]
    client.assert_has(BLOB)