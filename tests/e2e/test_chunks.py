"""Chunks of an upload in Kraken's dialect: any size, any order, resent, overlapping."""

import itertools

import pytest

from blob import KIB, MIB, Blob


def test_many_chunks_in_order(client):
    blob = Blob.random(MIB + 3)
    uid = client.begin(blob.digest)
    for at in range(0, blob.size, 65537):
        answer = client.patch(blob.digest, uid, at, blob.data[at:at + 65537])
        assert answer.status == 200 and answer.is_empty()
        assert client.progress(blob.digest, uid) == min(at + 65537, blob.size)
    answer = client.commit(blob.digest, uid)
    assert answer.status == 200 and answer.is_empty()
    client.assert_has(blob)


def test_tiny_chunks(client):
    blob = Blob.random(1000)
    assert client.upload(blob, chunk=13) == 200
    client.assert_has(blob)


@pytest.mark.parametrize("size", [4 * MIB - 1, 4 * MIB, 4 * MIB + 1, 9 * MIB + 5])
@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_piece_sums_do_not_depend_on_the_chunks(client, size, order):
    blob = Blob.random(size)
    uid = client.begin(blob.digest)
    offsets = list(range(0, size, 3 * MIB))
    for at in offsets if order == "forwards" else reversed(offsets):
        assert client.patch(blob.digest, uid, at, blob.data[at:at + 3 * MIB]).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


def test_chunks_in_every_order(client):
    for order in itertools.permutations(range(4)):
        blob = Blob.random(40 * KIB, order)
        uid = client.begin(blob.digest)
        for number in order:
            at = number * 10 * KIB
            assert client.patch(blob.digest, uid, at, blob.data[at:at + 10 * KIB]).status == 200
        assert client.commit(blob.digest, uid).status == 200, order
        client.assert_has(blob)


def test_a_chunk_resent_at_the_checkpoint_replaces_the_first_one(client):
    """A client that lost the answer sends the chunk again; it may have read more by now."""
    for size in [20, 21, 45]:
        blob = Blob.random(10 + size, "resent")
        uid = client.begin(blob.digest)
        assert client.patch(blob.digest, uid, 0, blob.data[:10]).status == 200
        assert client.patch(blob.digest, uid, 10, b"x" * 20).status == 200
        assert client.patch(blob.digest, uid, 10, blob.data[10:]).status == 200
        assert client.commit(blob.digest, uid).status == 200, size
        client.assert_has(blob)


def test_a_chunk_may_be_resent_many_times_and_go_on(client):
    blob = Blob.random(5 * MIB)
    uid = client.begin(blob.digest)
    for at in range(0, blob.size, MIB):
        for _ in range(3):
            assert client.patch(blob.digest, uid, at, blob.data[at:at + MIB]).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


def test_an_earlier_chunk_resent_after_later_ones_counts(client):
    blob = Blob.random(30)
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, b"y" * 10).status == 200
    assert client.patch(blob.digest, uid, 10, blob.data[10:20]).status == 200
    assert client.patch(blob.digest, uid, 20, blob.data[20:]).status == 200
    assert client.patch(blob.digest, uid, 0, blob.data[:10]).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


def test_chunks_may_overlap_and_the_last_write_wins(client):
    blob = Blob.random(20)
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, blob.data[:10] + b"zz").status == 200
    assert client.patch(blob.digest, uid, 5, blob.data[5:]).status == 200
    assert client.patch(blob.digest, uid, 8, blob.data[8:12]).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


@pytest.mark.parametrize("end", [10**12, 2**62, 2**63 - 1])
def test_a_chunk_beyond_the_disk_is_refused_before_it_makes_a_sparse_file(daemon, client, end):
    blob = Blob(b"q")
    uid = client.begin(blob.digest)
    answer = client.patch(blob.digest, uid, end - 1, b"q")
    assert answer.status in (400, 413, 503)
    if answer.status == 503:
        assert int(answer.header("Retry-After")) >= 1
    assert all((daemon.data / "upload" / name).stat().st_size < MIB
               for name in daemon.upload_files())
    assert client.patch(blob.digest, uid, 0, b"q").status == 200
    assert client.commit(blob.digest, uid).status == 200


def test_after_a_commit_a_chunk_is_a_conflict_and_a_commit_finds_no_upload(client):
    blob = Blob.random(100)
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, blob.data).status == 200
    assert client.commit(blob.digest, uid).status == 200
    late = client.patch(blob.digest, uid, 0, b"late")
    assert late.status == 409 and late.is_empty()
    again = client.commit(blob.digest, uid)
    assert again.status == 404 and again.is_empty()
    client.assert_has(blob)


def test_the_loser_of_two_uploads_is_told_409(daemon, client):
    blob = Blob.random(1000)
    first, second = client.begin(blob.digest), client.begin(blob.digest)
    assert first != second
    for uid in (first, second):
        assert client.patch(blob.digest, uid, 0, blob.data).status == 200
    assert client.commit(blob.digest, first).status == 200
    loser = client.commit(blob.digest, second)
    assert loser.status == 409 and loser.is_empty()
    client.assert_has(blob)
    assert daemon.upload_files_after_settling() == []


def test_a_chunk_may_come_in_the_chunked_coding(client):
    blob = Blob.random(300 * KIB)
    uid = client.begin(blob.digest)
    parts = [blob.data[at:at + 999] for at in range(0, blob.size, 999)]
    assert client.patch(blob.digest, uid, 0, iter(parts), end=blob.size).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)
