"""C14: pipelining. Several requests in one segment, or each in many: answered in order, each once.
"""

import random

import pytest

from blob import Blob
from connection import Connection, chunked, request
from daemon import Daemon
from kraken_client import NAMESPACE, KrakenClient
from smuggled import ALL_LOGGED, HEALTH_AND_CLOSE, SMUGGLED, assert_not_smuggled, log_end

pytestmark = [pytest.mark.usefixtures("still_alive"), pytest.mark.settings(ALL_LOGGED)]

BLOB = Blob(b"0123456789")
HIDING = Blob(SMUGGLED * 3)
METHODS = ["GET", "PATCH", "HEAD", "GET", "GET"]


@pytest.fixture(scope="module")
def shared_daemon():
    with Daemon(ALL_LOGGED) as daemon:
        yield daemon


def five(client: KrakenClient, blob: Blob, uid: str, in_chunks: bool = False) -> bytes:
    """The five requests of the case; the body of the second one is the blob."""
    fields = {"Content-Range": f"0-{blob.size}"}
    body = chunked(blob.data, 7) if in_chunks else blob.data
    if in_chunks:
        fields["Transfer-Encoding"] = "chunked"
    return (request("GET", "/health")
            + request("PATCH", client.upload_path(blob.digest, uid), fields, body)
            + request("HEAD", f"/internal{client.blob_path(blob.digest)}?local=true")
            + request("GET", f"/namespace/{NAMESPACE}/blobs/sha256:{'0' * 64}")
            + HEALTH_AND_CLOSE)


def assert_five(connection: Connection) -> None:
    answers = [connection.answer(method) for method in METHODS]
    assert connection.is_closed()
    assert [(a.status, a.body) for a in answers] == [
        (200, b"OK\n"), (200, b""), (404, b""), (404, b""), (200, b"OK\n")]
    assert [a.header("Content-Length") for a in answers] == ["3", "0", "0", "0", "3"]
    assert [a.header("Connection") for a in answers] == [None] * 4 + ["close"]


def pieces(sent: bytes, size: int) -> list[bytes]:
    return [sent[at:at + size] for at in range(0, len(sent), size)]


@pytest.mark.parametrize("in_chunks", [False, True], ids=["length", "chunked"])
@pytest.mark.parametrize("blob", [BLOB, HIDING], ids=["ten bytes", "bytes like requests"])
@pytest.mark.parametrize("size", [10**6, 1, 2, 3, 17], ids=lambda size: f"by {size}")
def test_five_requests_get_five_answers_in_order(shared_daemon, shared_client, blob, in_chunks,
                                                 size):
    log_from = log_end(shared_daemon)
    uid = shared_client.begin(blob.digest)
    with Connection(shared_daemon.port) as connection:
        for piece in pieces(five(shared_client, blob, uid, in_chunks), size):
            connection.send(piece)
        assert_five(connection)
    assert shared_client.commit(blob.digest, uid).status == 200
    assert shared_client.get(blob.digest).body == blob.data
    assert shared_client.delete(blob.digest).status == 202
    assert_not_smuggled(shared_daemon, log_from)


def test_the_split_in_two_may_lie_anywhere(shared_daemon, shared_client):
    uid = shared_client.begin(HIDING.digest)
    sent = five(shared_client, HIDING, uid)
    log_from = log_end(shared_daemon)
    for at in range(1, len(sent)):
        with Connection(shared_daemon.port) as connection:
            connection.send(sent[:at])
            connection.send(sent[at:])
            assert_five(connection)
    assert shared_client.cancel(HIDING.digest, uid).status == 204
    assert_not_smuggled(shared_daemon, log_from)


def test_splits_at_random_places_do_not_matter(shared_daemon, shared_client):
    chance = random.Random(14)
    uid = shared_client.begin(HIDING.digest)
    sent = five(shared_client, HIDING, uid, in_chunks=True)
    for _ in range(50):
        cuts = [0, *sorted(chance.sample(range(1, len(sent)), 8)), len(sent)]
        with Connection(shared_daemon.port) as connection:
            for start, end in zip(cuts, cuts[1:]):
                connection.send(sent[start:end])
            assert_five(connection)
    assert shared_client.cancel(HIDING.digest, uid).status == 204


def test_what_follows_the_last_request_is_not_answered(shared_daemon):
    """`Connection: close` is the client's word that nothing follows."""
    log_from = log_end(shared_daemon)
    with Connection(shared_daemon.port) as connection:
        connection.send(request("GET", "/health") + HEALTH_AND_CLOSE + SMUGGLED)
        answers = connection.answers_until_closed()
    assert [(a.status, a.body) for a in answers] == [(200, b"OK\n")] * 2
    assert_not_smuggled(shared_daemon, log_from)


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
    other = Blob(b"begun, and no more")
    sent = (request("GET", "/health")
            + request("POST", f"{client.blob_path(other.digest)}/uploads")
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
    assert client.cancel(other.digest, answers[1].header("Location")).status == 204


@pytest.mark.parametrize("path, status", [
    ("/health", 200), (f"/cas/{BLOB.hex}", 200), (f"/namespace/n/blobs/{BLOB.digest}", 200),
    (f"/blobs/{BLOB.digest}/locations", 200), ("/nothing", 404), (f"/cas/{'0' * 64}", 404),
])
def test_the_body_of_a_get_is_never_a_request(shared_daemon, shared_client, path, status):
    assert shared_client.request("PUT", f"/cas/{BLOB.hex}", BLOB.data).status in (200, 201)
    log_from = log_end(shared_daemon)
    for fields, body, answers_expected in [
        # A body of known length is read and dropped. One in chunks could go on for ever: the end.
        ({"Content-Length": len(SMUGGLED)}, SMUGGLED, 2),
        ({"Transfer-Encoding": "chunked"}, chunked(SMUGGLED), 1),
    ]:
        with Connection(shared_daemon.port) as connection:
            connection.send(request("GET", path, fields) + body + HEALTH_AND_CLOSE)
            answers = connection.answers_until_closed()
        assert [a.status for a in answers] == [status, 200][:answers_expected]
        assert answers[-1].header("Connection") == "close"
    assert_not_smuggled(shared_daemon, log_from)
