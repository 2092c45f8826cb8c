"""Limits on how many requests of a class run at once: beyond them 503, and the rest goes on."""

from contextlib import ExitStack

import pytest

from blob import KIB, MIB, Blob
from connection import Connection, request
from kraken_client import UNKNOWN_UPLOAD, KrakenClient

BIG = Blob.random(16 * MIB, "class limits")


def assert_refused(answer, key: str, in_json: bool) -> None:
    assert answer.status == 503, answer
    assert int(answer.header("Retry-After")) >= 1
    assert key in answer.body.decode()
    assert (answer.header("Content-Type") == "application/json") == in_json


def stuck_reader(daemon, stack: ExitStack) -> Connection:
    """A GET that is answered, by a client that takes only the first bytes."""
    reader = stack.enter_context(Connection(daemon.port))
    reader.send(request("GET", f"/cas/{BIG.hex}"))
    assert reader.socket.recv(64).startswith(b"HTTP/1.1 200")
    return reader


def stuck_writer(daemon, client: KrakenClient, blob: Blob, stack: ExitStack) -> Connection:
    """A PATCH whose second half does not come."""
    uid = client.begin(blob.digest)
    head = {"Content-Range": f"0-{blob.size}", "Content-Length": blob.size,
            "Expect": "100-continue"}
    writer = stack.enter_context(Connection(daemon.port))
    writer.send(request("PATCH", client.upload_path(blob.digest, uid), head))
    assert writer.answer().status == 100  # So it runs from now on.
    writer.send(blob.data[:blob.size // 2])
    return writer


@pytest.mark.settings({"server.reads_max": "2"})
def test_readers_beyond_the_limit_get_503_until_one_is_done(daemon, client):
    assert client.request("PUT", f"/cas/{BIG.hex}", BIG.data).status == 201
    with ExitStack() as stack:
        first = stuck_reader(daemon, stack)
        stuck_reader(daemon, stack)

        assert_refused(client.request("GET", f"/cas/{BIG.hex}"), "server.reads_max", in_json=True)
        assert_refused(client.get(BIG.digest), "server.reads_max", in_json=False)
        assert client.stat(BIG.digest).status == 503
        assert client.request("GET", "/cas").status == 503
        # Whether the node lives, and other classes, do not depend on how many read.
        assert client.request("GET", "/health").body == b"OK\n"
        assert client.request("GET", "/readiness").body == b"OK\n"
        assert client.upload(Blob.random(1000, "beside")) == 200

        first.close()
        answers = iter(lambda: client.stat(BIG.digest).status, 200)
        assert all(status == 503 for status in answers)
        assert daemon.log().count("event=requests_refused limit=server.reads_max") == 1
    client.assert_has(BIG)


@pytest.mark.settings({"server.writes_max": "1"})
def test_a_writer_beyond_the_limit_gets_503_and_may_use_its_connection_again(daemon, client):
    slow, other = Blob.random(64 * KIB, "slow"), Blob.random(64 * KIB, "other")
    with ExitStack() as stack:
        writer = stuck_writer(daemon, client, slow, stack)
        with Connection(daemon.port) as connection:
            connection.send(request("POST", f"{client.blob_path(other.digest)}/uploads"))
            assert_refused(connection.answer(), "server.writes_max", in_json=False)
            # A body that is on its way already is taken off the line.
            connection.send(request("PUT", f"/cas/{other.hex}", {}, other.data))
            assert_refused(connection.answer(), "server.writes_max", in_json=True)
            connection.send(request("GET", "/health"))
            assert connection.answer().body == b"OK\n"
        writer.send(slow.data[slow.size // 2:])
        assert writer.answer().status == 200
    assert client.upload(other) == 200
    client.assert_has(other)


@pytest.mark.settings({"server.writes_max": "1"})
@pytest.mark.parametrize("method, path", [
    ("PUT", "/cas/{hex}"), ("POST", "/cas"),
    ("PATCH", "/namespace/n/blobs/sha256:{hex}/uploads/" + UNKNOWN_UPLOAD),
    ("PATCH", "/internal/blobs/sha256:{hex}/uploads/" + UNKNOWN_UPLOAD)])
def test_beyond_the_limit_the_body_is_not_even_asked_for(daemon, client, method, path):
    other = Blob.random(64 * KIB, "other")
    with ExitStack() as stack:
        stuck_writer(daemon, client, Blob.random(64 * KIB, "slow"), stack)
        connection = stack.enter_context(Connection(daemon.port))
        head = {"Expect": "100-continue", "Content-Length": other.size,
                "Content-Range": f"0-{other.size}"}
        connection.send(request(method, path.format(hex=other.hex), head))
        answer = connection.answer()
        assert_refused(answer, "server.writes_max", in_json=path.startswith("/cas"))
        assert answer.header("Connection") == "close"


@pytest.mark.settings({"server.writes_max": "1"})
def test_a_request_that_could_never_succeed_is_told_so_and_not_to_come_again(daemon, client):
    with ExitStack() as stack:
        stuck_writer(daemon, client, Blob.random(64 * KIB, "slow"), stack)
        assert client.request("POST", "/nowhere").status == 404
        assert client.request("PUT", "/health").status == 405
        assert client.request("POST", "/namespace/a%00b/blobs/x/uploads").status == 400
