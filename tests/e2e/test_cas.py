"""/cas: a blob store for anybody with an HTTP client."""

import json

import pytest

from blob import EMPTY, KIB, MIB, Blob
from connection import Answer, Connection, chunked, request
from kraken_client import KrakenClient


def put(client: KrakenClient, blob: Blob) -> Answer:
    return client.request("PUT", f"/cas/{blob.hex}", blob.data)


def get(client: KrakenClient, blob: Blob, **headers: str) -> Answer:
    return client.request("GET", f"/cas/{blob.hex}", headers=headers)


def assert_is_error(answer: Answer, status: int, code: str | None = None) -> dict:
    """Ours are JSON: {"error":{"code","message","digest"?,"request_id"}}."""
    assert answer.status == status, answer
    assert answer.header("Content-Type").startswith("application/json")
    error = json.loads(answer.body)["error"]
    assert set(error) - {"digest"} == {"code", "message", "request_id"}
    assert all(isinstance(value, str) and value for value in error.values())
    if code is not None:
        assert error["code"] == code
    return error


@pytest.mark.parametrize("size", [1, 1000, 64 * KIB, 4 * MIB, 4 * MIB + 1])
def test_a_blob_comes_back_as_it_was_put(daemon, client, size):
    blob = Blob.random(size)
    assert put(client, blob).status == 201
    client.assert_has(blob)
    got = get(client, blob)
    assert (got.status, got.body) == (200, blob.data)
    assert got.header("Content-Length") == str(size)
    assert got.header("ETag") == f'"sha256:{blob.hex}"'
    assert got.header("Accept-Ranges") == "bytes"
    assert got.header("Content-Type") == "application/octet-stream"
    assert daemon.upload_files_after_settling() == []


def test_a_second_put_answers_200_and_stores_no_second_copy(daemon, client):
    blob = Blob.random(100 * KIB)
    assert [put(client, blob).status for _ in range(3)] == [201, 200, 200]
    assert [path.stat().st_size for path in daemon.blob_files()] == [blob.size]
    assert get(client, blob).body == blob.data
    assert daemon.upload_files_after_settling() == []


def test_a_blob_of_kraken_s_dialect_is_there_already_for_put(client):
    blob = Blob.random(10 * KIB)
    assert client.upload(blob) == 200
    assert put(client, blob).status == 200


def test_a_blob_that_was_put_is_a_conflict_for_kraken_s_dialect(client):
    blob = Blob.random(10 * KIB)
    assert put(client, blob).status == 201
    assert client.start(blob.digest).status == 409


@pytest.mark.parametrize("size", [11, 3 * MIB])
def test_a_put_of_other_bytes_is_refused_and_leaves_nothing(daemon, client, size):
    right, wrong = Blob.random(size, "right"), Blob.random(size, "wrong")
    answer = client.request("PUT", f"/cas/{right.hex}", wrong.data)
    error = assert_is_error(answer, 400, "digest_mismatch")
    assert right.hex in error["digest"]
    assert wrong.hex in error["message"]
    client.assert_lacks(right)
    client.assert_lacks(wrong)
    assert daemon.upload_files_after_settling() == []
    assert put(client, right).status == 201
    client.assert_has(right)


def test_other_bytes_never_replace_a_blob_that_is_here(client):
    blob, wrong = Blob.random(1000, "right"), Blob.random(1000, "wrong")
    assert put(client, blob).status == 201
    assert client.request("PUT", f"/cas/{blob.hex}", wrong.data).status in (200, 400)
    client.assert_has(blob)
    client.assert_lacks(wrong)


def test_post_names_the_digest(client):
    blob = Blob.random(5 * MIB)
    answer = client.request("POST", "/cas", blob.data)
    assert answer.status == 201
    assert json.loads(answer.body) == {"digest": blob.digest, "size": blob.size}
    assert answer.header("Location") == f"/cas/{blob.hex}"
    client.assert_has(blob)
    again = client.request("POST", "/cas", blob.data)
    assert again.status in (200, 201)
    assert json.loads(again.body) == {"digest": blob.digest, "size": blob.size}


@pytest.mark.parametrize("size", [0, 1, 70001, 2 * MIB])
def test_a_chunked_body_is_accepted(client, size):
    named, unnamed = Blob.random(size, "named"), Blob.random(size, "unnamed")
    parts = [named.data[at:at + 7001] for at in range(0, size, 7001)]
    assert client.request("PUT", f"/cas/{named.hex}", iter(parts)).status == 201
    client.assert_has(named)
    answer = client.request("POST", "/cas", iter([unnamed.data] if size else []))
    # Both are the empty blob when the size is 0: the second one may be there already.
    assert answer.status in ((201,) if size else (200, 201))
    assert json.loads(answer.body)["digest"] == unnamed.digest
    client.assert_has(unnamed)


@pytest.mark.parametrize("size", [0, 1, 10 * MIB])
def test_head_says_what_get_says_and_sends_no_body(daemon, client, size):
    blob = Blob.random(size)
    assert put(client, blob).status == 201
    for path in [f"/cas/{blob.hex}", client.blob_path(blob.digest)]:
        with Connection(daemon.port) as connection:
            connection.send(request("GET", path) + request("HEAD", path)
                            + request("HEAD", path, {"Range": "bytes=0-0"})
                            + request("GET", "/health", {"Connection": "close"}))
            got, head = connection.answer(), connection.answer("HEAD")
            ranged, health = connection.answer("HEAD"), connection.answer()
            assert connection.is_closed()
        assert (got.status, head.status, ranged.status) == (200, 200, 200)
        assert health.body == b"OK\n"
        for name in ["Content-Length", "Content-Type", "ETag", "Accept-Ranges"]:
            assert got.header(name) == head.header(name) == ranged.header(name) is not None


def test_an_absent_blob_is_404_with_a_json_error(daemon, client):
    absent = Blob(b"absent")
    error = assert_is_error(get(client, absent), 404, "not_found")
    assert absent.hex in error["digest"]
    with Connection(daemon.port) as connection:
        connection.send(request("HEAD", f"/cas/{absent.hex}")
                        + request("GET", "/health", {"Connection": "close"}))
        assert connection.answer("HEAD").status == 404
        assert connection.answer().body == b"OK\n"


def test_delete_removes_and_a_second_delete_is_404(daemon, client):
    blob = Blob.random(10 * KIB)
    assert put(client, blob).status == 201
    gone = client.request("DELETE", f"/cas/{blob.hex}")
    assert (gone.status, gone.body) == (204, b"")
    client.assert_lacks(blob)
    assert daemon.blob_files() == []
    assert_is_error(client.request("DELETE", f"/cas/{blob.hex}"), 404, "not_found")
    assert put(client, blob).status == 201
    client.assert_has(blob)


@pytest.mark.parametrize("header", ["Forwarded: for=1.2.3.4", "X-Forwarded-For: 1.2.3.4",
                                    "x-forwarded-for: 127.0.0.1", "Forwarded: for=127.0.0.1"])
def test_a_forwarded_request_is_not_from_loopback(client, header):
    """A proxy on this host must not lend its address to strangers."""
    blob = Blob.random(1000)
    assert put(client, blob).status == 201
    name, _, value = header.partition(": ")
    for method, path in [("DELETE", f"/cas/{blob.hex}"),
                         ("DELETE", f"/internal/blobs/{blob.digest}"),
                         ("POST", "/forcecleanup?ttl_hr=1"),
                         ("POST", f"/internal/blobs/{blob.digest}/metainfo?piece_length=10")]:
        answer = client.request(method, path, headers={name: value})
        assert answer.status == 403, f"{method} {path}: {answer}"
        assert b"admin.allow" in answer.body, f"{method} {path}: {answer}"
    client.assert_has(blob)
    assert client.get(blob.digest, headers={name: value}).status == 200


@pytest.mark.parametrize("path", ["/", "/nothing", "/cas/a/b", "/CAS", "/cas/", "/v1/cas"])
def test_an_unknown_path_is_404(client, path):
    assert client.request("GET", path).status == 404


@pytest.mark.parametrize("method, path, allowed", [
    ("PATCH", f"/cas/{EMPTY.hex}", {"GET", "HEAD", "PUT", "DELETE"}),
    ("POST", f"/cas/{EMPTY.hex}", {"GET", "HEAD", "PUT", "DELETE"}),
    ("PUT", "/cas", {"POST"}),
    ("DELETE", "/cas", {"POST"}),
    ("POST", "/health", {"GET", "HEAD"}),
    ("DELETE", "/readiness", {"GET", "HEAD"}),
    ("GET", f"/namespace/n/blobs/{EMPTY.digest}/uploads", {"POST"}),
])
def test_a_wrong_method_is_405_with_allow(client, method, path, allowed):
    answer = client.request(method, path)
    assert answer.status == 405
    named = {word.strip() for word in answer.header("Allow").split(",")}
    assert allowed <= named
    assert method not in named


@pytest.mark.parametrize("name", ["length", "chunked"])
def test_a_body_that_breaks_off_is_never_a_blob(daemon, client, name):
    blob = Blob.random(100)
    head = {"length": {"Content-Length": 100}, "chunked": {"Transfer-Encoding": "chunked"}}[name]
    # The chunked body is complete but for its last-chunk; the other lacks 40 bytes.
    body = blob.data[:60] if name == "length" else chunked(blob.data, end=False)
    for method, path in [("PUT", f"/cas/{blob.hex}"), ("POST", "/cas")]:
        with Connection(daemon.port) as connection:
            connection.send(request(method, path, head) + body)
            connection.half_close()
            assert [a.status for a in connection.answers_until_closed() if a.status < 400] == []
    client.assert_lacks(blob)
    client.assert_lacks(Blob(blob.data[:60]))
    assert daemon.upload_files_after_settling() == []


def test_expect_100_continue_is_answered(daemon):
    blob = Blob.random(10 * KIB)
    with Connection(daemon.port) as connection:
        head = {"Content-Length": blob.size, "Expect": "100-continue"}
        connection.send(request("PUT", f"/cas/{blob.hex}", head))
        assert connection.answer().status == 100
        connection.send(blob.data)
        assert connection.answer().status == 201
