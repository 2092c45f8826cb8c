"""Chunks of an upload in Kraken's dialect: any size, any order, resent, cut off, malformed."""

import itertools
import time

import pytest

from blob import EMPTY, KIB, MIB, Blob
from connection import Connection, chunked, request


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


def test_a_gap_is_refused_at_commit(daemon, client):
    blob = Blob.random(20)
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 10, blob.data[10:]).status == 200
    assert client.commit(blob.digest, uid).status == 400
    client.assert_lacks(blob)
    assert client.commit(blob.digest, uid).status == 404
    assert daemon.upload_files_after_settling() == []
    assert client.upload(blob) == 200
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


def test_an_empty_chunk_does_nothing(client):
    blob = Blob.random(10)
    for target, uid in [(EMPTY, client.begin(EMPTY.digest)), (blob, client.begin(blob.digest))]:
        assert client.patch(target.digest, uid, 0, b"").status == 200
        if target.size:
            assert client.patch(target.digest, uid, 0, target.data).status == 200
            assert client.patch(target.digest, uid, target.size, b"").status == 200
        assert client.commit(target.digest, uid).status == 200
        client.assert_has(target)


def test_wrong_bytes_are_refused_and_the_right_ones_taken_right_after(daemon, client):
    blob, wrong = Blob.random(100, "right"), Blob.random(100, "wrong")
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, wrong.data).status == 200
    answer = client.commit(blob.digest, uid)
    assert answer.status == 400
    assert blob.hex.encode() in answer.body and wrong.hex.encode() in answer.body
    client.assert_lacks(blob)
    client.assert_lacks(wrong)
    assert daemon.upload_files_after_settling() == []
    assert client.upload(blob) == 200
    client.assert_has(blob)


@pytest.mark.parametrize("value", [
    "bytes 0-9/10", "0,10", "0-10-20", "a-b", "-5", "5-", "0x0-0xA", "0-18446744073709551616",
    "0-9223372036854775808", "10-5", "", "blah", "-5-10", "0 - 5", "1_0-20", "0-5/10",
    "\u0660-\u0665", None,
])
def test_a_malformed_content_range_leaves_the_upload_unchanged(client, value):
    blob = Blob(b"0123456789")
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, blob.data[:5]).status == 200
    headers = {} if value is None else {"Content-Range": value.encode().decode("latin-1")}
    answer = client.request("PATCH", client.upload_path(blob.digest, uid), b"0123456789", headers)
    assert answer.status == 400
    assert client.progress(blob.digest, uid) == 5
    assert client.patch(blob.digest, uid, 5, blob.data[5:]).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


@pytest.mark.parametrize("coding", ["length", "chunked"])
@pytest.mark.parametrize("size, range_end", [(60, 100), (0, 100), (99, 100), (101, 100),
                                             (200, 100), (10, 0), (64 * KIB, 100),
                                             (100, 64 * KIB)])
def test_a_body_that_is_not_its_range_leaves_the_upload_unchanged(client, coding, size, range_end):
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


def test_a_chunk_may_come_in_the_chunked_coding(client):
    blob = Blob.random(300 * KIB)
    uid = client.begin(blob.digest)
    parts = [blob.data[at:at + 999] for at in range(0, blob.size, 999)]
    assert client.patch(blob.digest, uid, 0, iter(parts), end=blob.size).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


def cut_off(daemon, client, blob: Blob, uid: str, at: int, arriving: int) -> None:
    """A client that dies when `arriving` bytes of its chunk (the rest of the blob) are sent."""
    head = {"Content-Range": f"{at}-{blob.size}", "Content-Length": blob.size - at}
    with Connection(daemon.port) as connection:
        connection.send(request("PATCH", client.upload_path(blob.digest, uid), head)
                        + blob.data[at:at + arriving])


def test_a_chunk_that_was_cut_off_is_sent_again(daemon, client):
    blob = Blob.random(3 * MIB)
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, blob.data[:MIB]).status == 200
    for arriving in [1, 600 * KIB, MIB + 77, 0]:
        cut_off(daemon, client, blob, uid, MIB, arriving)
        assert client.patch(blob.digest, uid, MIB, blob.data[MIB:2 * MIB]).status == 200
    assert client.patch(blob.digest, uid, 2 * MIB, blob.data[2 * MIB:]).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


def test_an_upload_goes_on_where_it_was_cut_off(daemon, client):
    blob = Blob.random(3 * MIB)
    uid = client.begin(blob.digest)
    at, cuts = 0, 0
    for arriving in [700 * KIB, 800 * KIB, 333]:
        cut_off(daemon, client, blob, uid, at, arriving)
        until = time.monotonic() + 10
        while client.progress(blob.digest, uid) < at + arriving and time.monotonic() < until:
            time.sleep(0.02)
        # All that was sent has arrived: on loopback nothing is lost when a connection ends.
        assert client.progress(blob.digest, uid) == at + arriving
        at, cuts = at + arriving, cuts + 1
    assert cuts == 3
    assert client.patch(blob.digest, uid, at, blob.data[at:]).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


@pytest.mark.parametrize("coding", ["length", "chunked"])
def test_half_a_chunk_and_a_half_close_is_no_success(daemon, client, coding):
    blob = Blob.random(100)
    uid = client.begin(blob.digest)
    head = {"Content-Range": "0-100"}
    if coding == "length":
        head, body = head | {"Content-Length": 100}, blob.data[:60]
    else:  # All 100 bytes, but without the last-chunk nobody can know that these are all.
        head, body = head | {"Transfer-Encoding": "chunked"}, chunked(blob.data, end=False)
    with Connection(daemon.port) as connection:
        connection.send(request("PATCH", client.upload_path(blob.digest, uid), head) + body)
        connection.half_close()
        assert [a.status for a in connection.answers_until_closed() if a.status < 400] == []
    if coding == "length":
        assert 400 <= client.commit(blob.digest, uid).status < 500
        client.assert_lacks(blob)
    else:
        # What arrived is kept, so here it may happen to be the whole blob; never anything else.
        assert client.commit(blob.digest, uid).status in (200, 400, 404)
    if client.get(blob.digest).status != 200:
        assert client.upload(blob) == 200
    client.assert_has(blob)
