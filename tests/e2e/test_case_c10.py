"""C10: a body that does not keep its promise is no data, and a wrong digest is no blob."""

import pytest

from blob import KIB, Blob
from connection import Connection, chunked, request

pytestmark = pytest.mark.usefixtures("still_alive")

# If this is ever answered, bytes of a body were taken for a request.
SMUGGLED = request("GET", "/SMUGGLED")


def half_closed_chunk(daemon, client, blob: Blob, uid: str, head: dict, body: bytes) -> None:
    """The client says no more than this, and the daemon must not call it a success."""
    with Connection(daemon.port) as connection:
        connection.send(request("PATCH", client.upload_path(blob.digest, uid),
                                {"Content-Range": f"0-{blob.size}"} | head) + body)
        connection.half_close()
        assert [answer.status for answer in connection.answers_until_closed()] in ([], [400])


@pytest.mark.parametrize("begun_with", [0, 40], ids=["a fresh upload", "an upload"])
def test_sixty_of_a_hundred_bytes_are_no_success_and_no_blob(daemon, client, begun_with):
    blob = Blob.random(100, begun_with)
    uid = client.begin(blob.digest)
    if begun_with:
        assert client.patch(blob.digest, uid, 0, blob.data[:begun_with]).status == 200
    half_closed_chunk(daemon, client, blob, uid, {"Content-Length": 100}, blob.data[:60])
    assert client.commit(blob.digest, uid).status == 400
    client.assert_lacks(blob)
    client.assert_lacks(Blob(blob.data[:60]))
    assert daemon.upload_files_after_settling() == []
    assert client.upload(blob) == 200
    client.assert_has(blob)


@pytest.mark.parametrize("data, status", [
    (b"q" * 100, 400),  # Other bytes, as in the case log.
    (Blob.random(100, "no last-chunk").data[:60], 400),
    # What arrived is kept, and here it happens to be all: SHA-256 says so, not the client.
    (Blob.random(100, "no last-chunk").data, 200),
], ids=["other bytes", "too few bytes", "all bytes"])
def test_a_chunked_body_without_its_last_chunk_is_no_success(daemon, client, data, status):
    blob = Blob.random(100, "no last-chunk")
    uid = client.begin(blob.digest)
    half_closed_chunk(daemon, client, blob, uid, {"Transfer-Encoding": "chunked"},
                      chunked(data, end=False))
    assert client.commit(blob.digest, uid).status == status
    if status == 400:
        client.assert_lacks(blob)
        client.assert_lacks(Blob(data))
        assert client.upload(blob) == 200
    client.assert_has(blob)


@pytest.mark.parametrize("coding", ["length", "chunked"])
@pytest.mark.parametrize("size, range_end", [(60, 100), (0, 100), (99, 100), (101, 100),
                                             (200, 100), (20, 10), (10, 0), (64 * KIB, 100),
                                             (100, 64 * KIB)])
def test_a_body_that_is_not_its_range_is_400_and_leaves_the_session_unchanged(client, coding, size,
                                                                              range_end):
    first, rest = b"f" * 50, Blob.random(100).data
    blob = Blob(first + rest)
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, first).status == 200
    lie = b"L" * size
    body = lie if coding == "length" else iter([lie[:1], lie[1:]])
    assert client.patch(blob.digest, uid, 50, body, end=50 + range_end).status == 400
    assert client.progress(blob.digest, uid) == 50
    assert client.patch(blob.digest, uid, 50, rest).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


@pytest.mark.parametrize("coding", ["length", "chunked"])
@pytest.mark.parametrize("surplus", [SMUGGLED, SMUGGLED * 2000], ids=["small", "large"])
def test_surplus_bytes_are_never_data_and_never_a_request(daemon, client, coding, surplus):
    blob = Blob.random(10)
    uid = client.begin(blob.digest)
    path = client.upload_path(blob.digest, uid)
    body = blob.data + surplus
    head = {"length": {"Content-Length": len(body)}, "chunked": {"Transfer-Encoding": "chunked"}}
    with Connection(daemon.port) as connection:
        connection.send(request("PATCH", path, {"Content-Range": "0-10"} | head[coding])
                        + (body if coding == "length" else chunked(body)))
        assert connection.answer().status == 400
        if connection.silent_for(0.3):
            connection.send(request("GET", "/health", {"Connection": "close"}))
            assert connection.answer().body == b"OK\n"
        assert connection.is_closed()
    assert "/SMUGGLED" not in daemon.log()
    assert client.progress(blob.digest, uid) == 0
    assert client.patch(blob.digest, uid, 0, blob.data).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


@pytest.mark.parametrize("dialect", ["public", "internal", "duplicate"])
def test_the_bytes_of_a_under_the_name_of_b_are_400_and_then_neither_is_here(daemon, client,
                                                                            dialect):
    a, b = Blob.random(100, "a"), Blob.random(100, "b")
    uploads = f"/internal/blobs/{b.digest}/uploads" if dialect == "internal" else (
        f"{client.blob_path(b.digest)}/uploads")
    upload = f"{uploads}/{client.request('POST', uploads).header('Location')}"
    assert client.request("PATCH", upload, a.data, {"Content-Range": "0-100"}).status == 200
    if dialect == "duplicate":
        answer = client.request("PUT", f"/internal/duplicate{upload}", b'{"Delay":0}')
    else:
        answer = client.request("PUT", upload)
    assert answer.status == 400
    # Kraken's text has no code: it names both digests (its own says 500).
    assert b"doesn't match expected value" in answer.body
    assert a.digest.encode() in answer.body and b.digest.encode() in answer.body
    client.assert_lacks(a)
    client.assert_lacks(b)
    assert client.request("PUT", upload).status == 404
    assert daemon.upload_files_after_settling() == []
    assert daemon.blob_files() == []
    assert client.upload(b) == 200
    client.assert_has(b)
    client.assert_lacks(a)
