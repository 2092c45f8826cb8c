"""Uploads as sessions: their ids, restarts, cancelling, Expect, and connections that are kept."""

import pytest

from blob import EMPTY, KIB, MIB, Blob
from connection import Connection, request
from kraken_client import NAMESPACE, UNKNOWN_UPLOAD


@pytest.mark.parametrize("kill9", [False, True], ids=["SIGTERM", "kill -9"])
@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_an_upload_survives_a_restart(daemon, client, kill9, order):
    blob = Blob.random(2 * MIB + 5)
    uid = client.begin(blob.digest)
    chunks = [(0, MIB), (MIB, 2 * MIB), (2 * MIB, blob.size)]
    if order == "backwards":
        chunks.reverse()
    for start, end in chunks[:2]:
        assert client.patch(blob.digest, uid, start, blob.data[start:end]).status == 200
    client.close()
    daemon.restart(kill9)
    for start, end in chunks[2:]:
        assert client.patch(blob.digest, uid, start, blob.data[start:end]).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)
    assert daemon.upload_files_after_settling() == []


@pytest.mark.parametrize("kill9", [False, True], ids=["SIGTERM", "kill -9"])
def test_a_finished_upload_may_be_committed_after_a_restart(daemon, client, kill9):
    right, wrong = Blob.random(100 * KIB, "right"), Blob.random(100 * KIB, "wrong")
    uid, wrong_uid = client.begin(right.digest), client.begin(wrong.digest)
    assert client.patch(right.digest, uid, 0, right.data).status == 200
    assert client.patch(wrong.digest, wrong_uid, 0, right.data).status == 200
    client.close()
    daemon.restart(kill9)
    assert client.progress(right.digest, uid) == right.size
    assert client.commit(wrong.digest, wrong_uid).status == 400
    client.assert_lacks(wrong)
    assert client.commit(right.digest, uid).status == 200
    client.assert_has(right)


@pytest.mark.parametrize("kill9", [False, True], ids=["SIGTERM", "kill -9"])
def test_an_upload_that_has_nothing_is_the_empty_blob_also_after_a_restart(daemon, client, kill9):
    uid = client.begin(EMPTY.digest)
    client.close()
    daemon.restart(kill9)
    assert client.progress(EMPTY.digest, uid) == 0
    assert client.commit(EMPTY.digest, uid).status == 200
    client.assert_has(EMPTY)


@pytest.mark.parametrize("kill9", [False, True], ids=["SIGTERM", "kill -9"])
def test_the_last_chunk_may_be_resent_after_a_restart(daemon, client, kill9):
    blob = Blob.random(3 * MIB)
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, blob.data[:MIB]).status == 200
    assert client.patch(blob.digest, uid, MIB, b"?" * MIB).status == 200
    client.close()
    daemon.restart(kill9)
    assert client.patch(blob.digest, uid, MIB, blob.data[MIB:2 * MIB]).status == 200
    assert client.patch(blob.digest, uid, 2 * MIB, blob.data[2 * MIB:]).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


@pytest.mark.parametrize("kill9", [False, True], ids=["SIGTERM", "kill -9"])
def test_blobs_survive_a_restart_and_stay_conflicts(daemon, client, kill9):
    blobs = [Blob.random(size) for size in (0, 1, 70000, 5 * MIB)]
    for blob in blobs:
        assert client.upload(blob) == 200
    removed = Blob.random(333)
    assert client.upload(removed) == 200
    assert client.delete(removed.digest).status == 202
    client.close()
    daemon.restart(kill9)
    for blob in blobs:
        client.assert_has(blob)
        assert client.start(blob.digest).status == 409
        assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 200
    if not kill9:
        client.assert_lacks(removed)


def test_an_unknown_upload_is_404(client):
    blob = Blob.random(10)
    never_issued = "0123456789abcdef" * 2 + "-00000000"
    for uid in (UNKNOWN_UPLOAD, never_issued):
        for answer in [client.patch(blob.digest, uid, 0, blob.data),
                       client.commit(blob.digest, uid)]:
            assert answer.status == 404 and answer.is_empty()
        assert client.progress(blob.digest, uid) is None
        assert client.cancel(blob.digest, uid).status == 404


def test_an_upload_belongs_to_its_digest(client):
    blob, other = Blob.random(10, "mine"), Blob.random(10, "other")
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, blob.data[:5]).status == 200
    assert client.patch(other.digest, uid, 0, other.data).status == 404
    assert client.commit(other.digest, uid).status == 404
    assert client.progress(other.digest, uid) is None
    assert client.cancel(other.digest, uid).status == 404
    assert client.patch(blob.digest, uid, 5, blob.data[5:]).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)
    client.assert_lacks(other)


def test_a_cancelled_upload_is_gone(daemon, client):
    blob = Blob.random(100 * KIB)
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, blob.data[:50 * KIB]).status == 200
    assert daemon.upload_files() != []
    assert client.cancel(blob.digest, uid).status in (200, 202, 204)
    assert daemon.upload_files_after_settling() == []
    assert client.patch(blob.digest, uid, 50 * KIB, blob.data[50 * KIB:]).status == 404
    assert client.commit(blob.digest, uid).status == 404
    assert client.cancel(blob.digest, uid).status == 404
    assert client.upload(blob) == 200


def test_expect_100_continue_then_the_answer(daemon, client):
    blob = Blob.random(100)
    uid = client.begin(blob.digest)
    head = {"Content-Range": "0-100", "Content-Length": 100, "Expect": "100-continue"}
    with Connection(daemon.port) as connection:
        connection.send(request("PATCH", client.upload_path(blob.digest, uid), head))
        assert connection.answer().status == 100
        assert connection.silent_for(0.3)
        connection.send(blob.data)
        assert connection.answer().status == 200
        connection.send(request("PUT", client.upload_path(blob.digest, uid)))
        assert connection.answer().status == 200
    client.assert_has(blob)


def test_expect_100_continue_is_refused_without_reading_the_body(daemon, client):
    stored, absent = Blob.random(100, "stored"), Blob.random(100, "absent")
    assert client.upload(stored) == 200
    uid = client.begin(absent.digest)
    for digest, upload, content_range, status in [
            (absent.digest, UNKNOWN_UPLOAD, "0-1000000", 404),
            (stored.digest, uid, "0-1000000", 409),
            (absent.digest, uid, "bytes 0-9/10", 400)]:
        head = {"Content-Range": content_range, "Content-Length": 1000000,
                "Expect": "100-continue"}
        with Connection(daemon.port) as connection:
            connection.send(request("PATCH", client.upload_path(digest, upload), head))
            assert connection.answer().status == status  # And not 100.


def test_thirty_requests_need_one_connection(daemon):
    """Kraken's Go client keeps its connection only if each empty answer has Content-Length: 0."""
    with Connection(daemon.port) as connection:
        for number in range(10):
            blob = Blob.random(1000, number)
            uploads = f"/namespace/{NAMESPACE}/blobs/{blob.digest}/uploads"
            connection.send(request("POST", uploads))
            start = connection.answer()
            upload = f"{uploads}/{start.header('Location')}"
            connection.send(request("PATCH", upload, {"Content-Range": "0-1000"}, blob.data))
            patch = connection.answer()
            connection.send(request("PUT", upload))
            commit = connection.answer()
            for answer in (start, patch, commit):
                assert answer.status == 200 and answer.is_empty(), answer
                assert answer.header("Transfer-Encoding") is None
                assert (answer.header("Connection") or "keep-alive").lower() != "close"
        assert connection.silent_for(0.2)


def test_every_empty_answer_says_content_length_0(client):
    blob, absent = Blob.random(10), Blob(b"absent")
    uid = client.begin(blob.digest)
    answers = {
        "patch": client.patch(blob.digest, uid, 0, blob.data),
        "commit": client.commit(blob.digest, uid),
        "conflict at start": client.start(blob.digest),
        "conflict at patch": client.patch(blob.digest, uid, 0, b"x"),
        "commit without upload": client.commit(blob.digest, uid),
        "patch without upload": client.patch(absent.digest, UNKNOWN_UPLOAD, 0, b"x"),
        "absent blob": client.get(absent.digest),
        "absent metainfo": client.metainfo(absent.digest),
        "prefetch": client.request("POST", f"{client.blob_path(blob.digest)}/prefetch"),
        "absent prefetch": client.request("POST", f"{client.blob_path(absent.digest)}/prefetch"),
        "locations": client.request("GET", f"/blobs/{blob.digest}/locations"),
        "internal conflict": client.request("POST", f"/internal/blobs/{blob.digest}/uploads"),
        "delete": client.delete(blob.digest),
        "delete again": client.delete(blob.digest),
    }
    assert [name for name, answer in answers.items() if not answer.is_empty()] == []
    assert [answer.status for answer in answers.values()] == [
        200, 200, 409, 409, 404, 404, 404, 404, 200, 404, 200, 409, 202, 404]
