"""Many clients, one digest: never wrong bytes, never 404 after 409."""

import hashlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from blob import KIB, MIB, Blob
from connection import Closed, Connection, request
from kraken_client import KrakenClient


@pytest.mark.limit(120)
def test_many_puts_of_many_small_digests_at_once(daemon, client):
    """Groups of commits with the same digest twice in them."""
    blobs = [Blob.random(size, size) for size in range(1, 200)]

    def push_all(_) -> list[int]:
        with KrakenClient(daemon) as one:
            return [one.request("PUT", f"/cas/{blob.hex}", blob.data).status for blob in blobs]

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(push_all, range(8)))
    for each in zip(*statuses):
        assert sorted(each) == [200] * 7 + [201]
    for blob in blobs:
        client.assert_has(blob)
    assert daemon.upload_files_after_settling() == []


@pytest.mark.parametrize("evil_at", [0, 4 * MIB], ids=["over the blob", "behind the blob"])
def test_late_bytes_of_a_chunk_are_never_in_the_blob(daemon, client, evil_at):
    """A chunk is half sent when the commit comes, so far with the blob's own bytes; the other half,
    with other bytes, comes after it."""
    blob = Blob.random(4 * MIB, f"late {evil_at}")
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, blob.data).status == 200
    upload = client.upload_path(blob.digest, uid)
    early = blob.data[evil_at:evil_at + MIB // 2]
    head = {"Content-Range": f"{evil_at}-{evil_at + MIB}", "Content-Length": MIB}
    with Connection(daemon.port, 40) as chunk, Connection(daemon.port, 40) as commit:
        chunk.send(request("PATCH", upload, head) + early)
        time.sleep(0.2)
        commit.send(request("PUT", upload))
        time.sleep(0.3)
        chunk.send_until_answered(b"E" * (MIB - len(early)))
        try:
            patched = chunk.answer().status
        except Closed:
            patched = None
        committed = commit.answer().status
    if patched == 200:
        assert committed == 400, "the bytes were accepted, so the blob cannot be right"
        client.assert_lacks(blob)
    else:
        assert patched in (None, 404, 409, 503)
        assert committed in (200, 400)
    if committed == 200:
        client.assert_has(blob)
    else:
        client.assert_lacks(blob)
        assert client.upload(blob) == 200
        client.assert_has(blob)


@pytest.mark.limit(120)
def test_a_chunk_beside_a_commit_wins_or_is_refused(daemon, client):
    """The same without choreography: chunk and commit start within a few milliseconds."""
    outcomes = []
    with ThreadPoolExecutor(2) as pool:
        for round_number in range(40):
            blob = Blob.random(2 * MIB, f"beside {round_number}")
            uid = client.begin(blob.digest)
            assert client.patch(blob.digest, uid, 0, blob.data).status == 200
            evil = b"E" * (64 * KIB)

            def patch() -> int:
                with KrakenClient(daemon) as one:
                    return one.patch(blob.digest, uid, MIB, evil).status

            def commit() -> int:
                time.sleep((round_number - 10) / 5000 if round_number > 10 else 0)
                with KrakenClient(daemon) as one:
                    return one.commit(blob.digest, uid).status

            both = pool.submit(patch), pool.submit(commit)
            patched, committed = (future.result() for future in both)
            outcomes.append((patched, committed))
            if committed == 200:
                assert patched in (404, 409), outcomes
                client.assert_has(blob)
            else:
                assert (patched, committed) == (200, 400), outcomes
                client.assert_lacks(blob)
    assert daemon.upload_files_after_settling() == []


@pytest.mark.limit(120)
def test_what_was_said_to_be_here_stays_here_while_it_is_committed(daemon):
    """Pollers of start and of GET run while the blob is committed again and again under new names:
    who has heard 409 or 200 never hears 404 after it."""
    blobs = [Blob.random(4 * MIB, f"polled {number}") for number in range(12)]
    current, done = [blobs[0]], threading.Event()
    faults: list[str] = []

    def check_here(one: KrakenClient, blob: Blob, because: str) -> None:
        got = one.get(blob.digest)
        if (got.status, got.body) != (200, blob.data):
            faults.append(f"{got.status}, {len(got.body)} bytes, although {because}")
        if one.metainfo(blob.digest).body != blob.metainfo():
            faults.append(f"no metainfo, although {because}")
        if one.stat(blob.digest).status != 200:
            faults.append(f"no stat, although {because}")

    def poll_start() -> None:
        with KrakenClient(daemon) as one:
            while not done.is_set():
                blob = current[0]
                start = one.start(blob.digest)
                if start.status == 409:
                    check_here(one, blob, "start said 409")
                elif start.status == 200:
                    one.cancel(blob.digest, start.header("Location"))
                else:
                    faults.append(f"start: {start.status}")

    def poll_get() -> None:
        with KrakenClient(daemon) as one:
            while not done.is_set():
                blob = current[0]
                got = one.get(blob.digest)
                if got.status == 200:
                    if got.body != blob.data:
                        faults.append("wrong bytes")
                    if (again := one.start(blob.digest)).status != 409:
                        faults.append(f"start said {again.status} after GET said 200")
                    check_here(one, blob, "GET said 200")
                elif got.status != 404:
                    faults.append(f"GET: {got.status}")

    with ThreadPoolExecutor(4) as pool:
        pollers = [pool.submit(poll) for poll in (poll_start, poll_get, poll_start, poll_get)]
        try:
            with KrakenClient(daemon) as uploader:
                for blob in blobs:
                    current[0] = blob
                    assert uploader.upload(blob, chunk=MIB) in (200, 409)
                    with KrakenClient(daemon) as other:
                        check_here(other, blob, "its commit was answered")
        finally:
            done.set()
    assert [poller.exception() for poller in pollers] == [None] * 4
    assert faults == []
    assert daemon.upload_files_after_settling() == []


@pytest.mark.parametrize("again", [False, True], ids=["deleted", "deleted and pushed again"])
def test_a_reader_of_a_deleted_blob_is_never_lied_to(daemon, client, again):
    blob = Blob.random(64 * MIB, again)
    assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
    path = f"/cas/{blob.hex}"
    with Connection(daemon.port) as reader:
        reader.send(request("GET", path))
        time.sleep(0.3)  # The daemon now waits for us with the socket's buffers full.
        assert client.delete(blob.digest).status == 202
        assert client.get(blob.digest).status == 404
        if again:
            assert client.request("PUT", path, blob.data).status == 201
        try:
            got = reader.answer()
        except Closed:
            pass  # Honest: the answer said 64 MiB, and the connection ended before that.
        else:
            assert got.status == 200
            assert hashlib.sha256(got.body).hexdigest() == blob.hex
    if again:
        client.assert_has(blob)
    else:
        client.assert_lacks(blob)
        assert daemon.blob_files() == []


def test_a_second_chunk_takes_over_from_a_silent_one(daemon, client):
    blob = Blob.random(2 * MIB)
    uid = client.begin(blob.digest)
    head = {"Content-Range": f"0-{blob.size}", "Content-Length": blob.size}
    with Connection(daemon.port) as silent:
        silent.send(request("PATCH", client.upload_path(blob.digest, uid), head)
                    + b"?" * (300 * KIB))
        time.sleep(0.1)
        begun = time.monotonic()
        assert client.patch(blob.digest, uid, 0, blob.data).status == 200
        waited = time.monotonic() - begun
        # Two seconds of silence are what a writer may have.
        assert 1.0 < waited < 8.0
        try:
            assert silent.answer().status >= 400
        except Closed:
            pass
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


def test_a_slow_writer_is_not_robbed_and_only_the_latest_of_the_others_waits(daemon, client):
    blob = Blob.random(20 * 1000)
    uid = client.begin(blob.digest)
    upload = client.upload_path(blob.digest, uid)
    head = {"Content-Range": f"0-{blob.size}", "Content-Length": blob.size}
    with (Connection(daemon.port) as slow, Connection(daemon.port, 40) as second,
          Connection(daemon.port, 40) as third):
        slow.send(request("PATCH", upload, head) + blob.data[:1000])
        time.sleep(0.3)
        second.send(request("PATCH", upload, head) + blob.data)
        time.sleep(0.3)
        third.send(request("PATCH", upload, head) + blob.data)
        sent_away = second.answer()
        assert (sent_away.status, sent_away.header("Retry-After")) == (503, "1")
        for at in range(1000, blob.size, 1000):
            slow.send(blob.data[at:at + 1000])
            time.sleep(0.2)
        assert slow.answer().status == 200
        assert third.answer().status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)
