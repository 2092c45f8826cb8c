"""C08: the empty blob is a blob like any other."""

import json
import time

import pytest

from blob import EMPTY
from connection import Connection, request

pytestmark = pytest.mark.usefixtures("still_alive")

INSTANTLY_SECONDS = 2.0


def upload_without_a_chunk(client) -> None:
    uid = client.begin(EMPTY.digest)
    assert client.commit(EMPTY.digest, uid).status == 200


def upload_with_an_empty_chunk(client) -> None:
    uid = client.begin(EMPTY.digest)
    answer = client.patch(EMPTY.digest, uid, 0, b"")
    assert answer.status == 200 and answer.is_empty()
    assert client.progress(EMPTY.digest, uid) == 0
    assert client.commit(EMPTY.digest, uid).status == 200


def upload_with_a_chunked_empty_chunk(client) -> None:
    uid = client.begin(EMPTY.digest)
    assert client.patch(EMPTY.digest, uid, 0, iter([]), end=0).status == 200
    assert client.commit(EMPTY.digest, uid).status == 200


def put(client) -> None:
    assert client.request("PUT", f"/cas/{EMPTY.hex}", b"").status == 201


def put_in_chunks(client) -> None:
    assert client.request("PUT", f"/cas/{EMPTY.hex}", iter([])).status == 201


def post(client) -> None:
    answer = client.request("POST", "/cas", b"")
    assert answer.status == 201
    assert json.loads(answer.body) == {"digest": EMPTY.digest, "size": 0}


WAYS = [upload_without_a_chunk, upload_with_an_empty_chunk, upload_with_a_chunked_empty_chunk, put,
        put_in_chunks, post]


@pytest.mark.parametrize("store", WAYS)
def test_the_empty_blob_is_stored_and_read_like_any_other(daemon, client, store):
    client.assert_lacks(EMPTY)
    store(client)
    client.assert_has(EMPTY)
    assert [path.stat().st_size for path in daemon.blob_files()] == [0]
    assert client.start(EMPTY.digest).status == 409
    assert client.request("PUT", f"/cas/{EMPTY.hex}", b"").status == 200
    client.close()
    for path in [client.blob_path(EMPTY.digest), f"/cas/{EMPTY.hex}"]:
        begun = time.monotonic()
        with Connection(daemon.port, timeout=5) as connection:
            connection.send(request("GET", path) + request("HEAD", path)
                            + request("GET", path, {"Range": "bytes=0-0"})
                            + request("GET", path, {"Range": "bytes=-1"})
                            + request("GET", "/health", {"Connection": "close"}))
            got, head = connection.answer(), connection.answer("HEAD")
            ranged, suffix = connection.answer(), connection.answer()
            assert connection.answer().body == b"OK\n"
            assert connection.is_closed()
        assert time.monotonic() - begun < INSTANTLY_SECONDS
        assert (got.status, got.body, got.header("Content-Length")) == (200, b"", "0")
        assert got.header("Transfer-Encoding") is None
        assert (head.status, head.header("Content-Length")) == (200, "0")
        assert (ranged.status, ranged.header("Content-Range")) == (416, "bytes */0")
        assert (suffix.status, suffix.header("Content-Range")) == (416, "bytes */0")


def test_the_metainfo_of_the_empty_blob_has_length_0_and_no_pieces(client):
    upload_without_a_chunk(client)
    metainfo = client.metainfo(EMPTY.digest)
    assert metainfo.status == 200
    info = json.loads(metainfo.body)["Info"]
    # Null and not []: Kraken's (tests/golden/metainfo.json).
    assert (info["Length"], info["PieceSums"], info["Name"]) == (0, None, EMPTY.hex)
    stat = client.stat(EMPTY.digest)
    assert (stat.status, stat.header("Content-Length")) == (200, "0")
    overwrite = client.request("POST", f"/internal/blobs/{EMPTY.digest}/metainfo?piece_length=7")
    assert overwrite.status == 200
    assert client.metainfo(EMPTY.digest).body == EMPTY.metainfo(7)


def test_bytes_are_never_the_empty_blob(client):
    uid = client.begin(EMPTY.digest)
    assert client.patch(EMPTY.digest, uid, 0, b"x").status == 200
    assert client.commit(EMPTY.digest, uid).status == 400
    assert client.request("PUT", f"/cas/{EMPTY.hex}", b"x").status == 400
    client.assert_lacks(EMPTY)
