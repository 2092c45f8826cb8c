"""C02: chunks out of order, and where an upload says that it is."""

import pytest

from blob import Blob

pytestmark = pytest.mark.usefixtures("still_alive")


@pytest.mark.parametrize("order", [(0, 10), (10, 0)], ids=["in order", "the second one first"])
def test_either_order_commits_with_200_and_the_bytes_are_equal(shared_client, order):
    blob = Blob.random(20, f"order {order}")
    uid = shared_client.begin(blob.digest)
    for at in order:
        answer = shared_client.patch(blob.digest, uid, at, blob.data[at:at + 10])
        assert answer.status == 200 and answer.is_empty()
    answer = shared_client.commit(blob.digest, uid)
    assert answer.status == 200 and answer.is_empty()
    shared_client.assert_has(blob)


def test_without_the_first_chunk_the_commit_is_400_and_the_blob_absent(daemon, client):
    blob = Blob.random(20)
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 10, blob.data[10:]).status == 200
    assert client.commit(blob.digest, uid).status == 400
    client.assert_lacks(blob)
    # A refused commit ends the upload, here as in Kraken; a new one is free to succeed.
    assert client.commit(blob.digest, uid).status == 404
    assert daemon.upload_files_after_settling() == []
    assert client.upload(blob) == 200
    client.assert_has(blob)


def test_without_the_last_chunk_the_commit_is_400_and_the_blob_absent(shared_client):
    blob = Blob.random(20, "no last one")
    uid = shared_client.begin(blob.digest)
    assert shared_client.patch(blob.digest, uid, 0, blob.data[:10]).status == 200
    assert shared_client.commit(blob.digest, uid).status == 400
    shared_client.assert_lacks(blob)
    shared_client.assert_lacks(Blob(blob.data[:10]))


def test_an_upload_that_has_nothing_is_at_zero(shared_client):
    blob = Blob.random(20, "fresh")
    uid = shared_client.begin(blob.digest)
    answer = shared_client.request("GET", shared_client.upload_path(blob.digest, uid))
    assert (answer.status, answer.header("Upload-Offset"), answer.body) == (204, "0", b"")
    assert shared_client.cancel(blob.digest, uid).status == 204


def test_the_progress_is_where_the_next_chunk_begins(shared_client):
    """After ten bytes it is 10: neither the last byte's number nor one more."""
    blob = Blob.random(20, "progress")
    uid = shared_client.begin(blob.digest)
    assert shared_client.patch(blob.digest, uid, 0, blob.data[:10]).status == 200
    at = shared_client.progress(blob.digest, uid)
    assert at == 10
    assert shared_client.patch(blob.digest, uid, at, blob.data[at:]).status == 200
    assert shared_client.progress(blob.digest, uid) == 20
    assert shared_client.commit(blob.digest, uid).status == 200
    shared_client.assert_has(blob)
