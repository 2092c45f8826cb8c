"""Case C24: the disk is full in the middle of an upload."""

import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from blob import MIB, Blob
from connection import Connection, chunked, request
from kraken_client import NAMESPACE, KrakenClient
from small_disk import SmallDisk

# The case wants three of five blobs of 20 MiB on 64 MiB, so little may stay free.
LITTLE_FLOOR = {"store.free_bytes_min": "1MB"}
LARGE = 100 * MIB


def assert_full(answer) -> None:
    assert answer.status == 503, answer
    assert int(answer.header("Retry-After")) >= 1, answer


def stored(daemon, blob: Blob) -> Blob:
    with KrakenClient(daemon) as client:
        assert client.upload(blob) == 200
    return blob


class Reader:
    """Reads one blob over and over, from its `with` to its end; every answer must be right."""

    def __init__(self, daemon, blob: Blob):
        self.daemon, self.blob = daemon, blob
        self.wrong, self.reads, self._over = [], 0, threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with KrakenClient(self.daemon) as client:
            while not self._over.is_set():
                answer = client.get(self.blob.digest)
                self.reads += 1
                if answer.status != 200 or answer.body != self.blob.data:
                    self.wrong.append((answer.status, len(answer.body)))

    def __enter__(self) -> "Reader":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._over.set()
        self._thread.join()
        assert self.wrong == []
        assert self.reads > 0


@pytest.fixture
def disk(hard_time_out):
    with SmallDisk("size=64m", LITTLE_FLOOR) as daemon:
        yield daemon


def test_a_blob_that_cannot_fit_is_refused_at_its_start_when_its_size_is_declared(disk):
    small = stored(disk, Blob.random(MIB, "small"))
    with KrakenClient(disk) as client:
        blob = Blob.random(10, "x").digest
        answer = client.request("POST", f"{client.blob_path(blob)}/uploads?size={LARGE}")
        assert_full(answer)
        assert disk.upload_files() == []
        for size in ("", "-1", "1x", "1.5", "9" * 30, "1&size=1"):
            answer = client.request("POST", f"{client.blob_path(blob)}/uploads?size={size}")
            assert answer.status == 400, (size, answer)
        answer = client.request("POST", f"{client.blob_path(blob)}/uploads?size={2 << 40}")
        assert answer.status == 400, answer
        client.assert_has(small)


@pytest.mark.parametrize("path, method, headers", [
    (f"/namespace/{NAMESPACE}/blobs/{{digest}}/uploads/{{uid}}", "PATCH",
     {"Content-Range": f"0-{LARGE}"}),
    ("/cas/{hex}", "PUT", {}),
    ("/cas", "POST", {}),
], ids=["patch", "put-cas", "post-cas"])
def test_a_body_that_cannot_fit_is_refused_before_it_is_sent(disk, path, method, headers):
    blob = Blob.random(10, "y")
    free = disk.free_bytes()
    with KrakenClient(disk) as client:
        uid = client.begin(blob.digest)
    path = path.format(digest=blob.digest, hex=blob.hex, uid=uid)
    with Connection(disk.port) as connection:
        connection.send(request(method, path, headers | {"Content-Length": LARGE,
                                                         "Expect": "100-continue"}))
        assert_full(connection.answer(method))  # And no 100 before it.
    with KrakenClient(disk) as client:
        assert client.cancel(blob.digest, uid).status == 204
    assert disk.uploads_gone_within(5)
    assert disk.free_bytes() >= free - 64 * 1024


def test_a_body_of_unknown_length_ends_when_the_disk_is_full(disk):
    small = stored(disk, Blob.random(MIB, "small"))
    blob = Blob.random(LARGE, "chunked")
    free = disk.free_bytes()
    with Reader(disk, small), Connection(disk.port, timeout=30) as connection:
        connection.send(request("PUT", f"/cas/{blob.hex}", {"Transfer-Encoding": "chunked"}))
        sent = connection.send_until_answered(chunked(blob.data, MIB))
        assert_full(connection.answer("PUT"))
        assert sent < 70 * MIB
        assert disk.uploads_gone_within(5)
        assert disk.free_bytes() >= free - MIB
    stored(disk, Blob.random(20 * MIB, "fits"))


def test_of_five_uploads_at_once_those_that_fit_succeed_and_the_others_are_refused(disk):
    small = stored(disk, Blob.random(MIB, "small"))
    blobs = [Blob.random(20 * MIB, f"one of five {i}") for i in range(5)]

    def upload(blob: Blob) -> str:
        with KrakenClient(disk) as client:
            uid = client.begin(blob.digest)
            for at in range(0, blob.size, 4 * MIB):
                patch = client.patch(blob.digest, uid, at, blob.data[at:at + 4 * MIB])
                if patch.status != 200:
                    assert_full(patch)
                    assert client.cancel(blob.digest, uid).status in (204, 404)
                    return "refused"
            commit = client.commit(blob.digest, uid)
            assert commit.status == 200, commit
            return "stored"

    def upload_of_known_size(blob: Blob) -> str:
        """As Orlop's own clients do: refused at the start or not at all."""
        with KrakenClient(disk) as client:
            start = client.request("POST", f"{client.blob_path(blob.digest)}/uploads"
                                           f"?size={blob.size}")
            if start.status != 200:
                assert_full(start)
                return "refused"
            uid = start.header("Location")
            for at in range(0, blob.size, 4 * MIB):
                patch = client.patch(blob.digest, uid, at, blob.data[at:at + 4 * MIB])
                assert patch.status == 200, patch
            assert client.commit(blob.digest, uid).status == 200
            return "stored"

    with Reader(disk, small), ThreadPoolExecutor(5) as pool:
        outcomes = list(pool.map(upload_of_known_size, blobs))
        assert outcomes.count("stored") == 3, outcomes
        with KrakenClient(disk) as client:
            for blob, outcome in zip(blobs, outcomes):
                if outcome == "stored":
                    client.assert_has(blob)
                    assert client.delete(blob.digest).status == 202
                else:
                    client.assert_lacks(blob)

        # Without a size each takes its space chunk by chunk, so they can be in each other's way.
        outcomes = list(pool.map(upload, blobs))
        assert outcomes.count("stored") >= 1, outcomes
        assert disk.uploads_gone_within(5)
        with KrakenClient(disk) as client:
            for blob, outcome in zip(blobs, outcomes):
                if outcome == "stored":
                    assert client.delete(blob.digest).status == 202
            client.assert_has(small)
    stored(disk, Blob.random(40 * MIB, "fits"))


def test_of_five_puts_at_once_three_succeed(disk):
    blobs = [Blob.random(20 * MIB, f"put of five {i}") for i in range(5)]

    def put(blob: Blob) -> int:
        with Connection(disk.port, timeout=30) as connection:
            connection.send(request("PUT", f"/cas/{blob.hex}", {"Content-Length": blob.size,
                                                                "Expect": "100-continue"}))
            answer = connection.answer("PUT")
            if answer.status != 100:
                assert_full(answer)
                return answer.status
            connection.send(blob.data)
            return connection.answer("PUT").status

    with ThreadPoolExecutor(5) as pool:
        statuses = list(pool.map(put, blobs))
    assert sorted(statuses) == [201, 201, 201, 503, 503], statuses
    assert disk.uploads_gone_within(5)
    with KrakenClient(disk) as client:
        for blob, status in zip(blobs, statuses):
            answer = client.get(blob.digest)
            assert answer.status == (200 if status == 201 else 404)
            if status == 201:
                assert answer.body == blob.data


def test_a_disk_that_others_fill_ends_the_upload_and_nothing_else(disk):
    small = stored(disk, Blob.random(MIB, "small"))
    blob = Blob.random(20 * MIB, "overtaken")
    free = disk.free_bytes()
    with KrakenClient(disk) as client, Reader(disk, small):
        uid = client.begin(blob.digest)
        with Connection(disk.port, timeout=30) as connection:
            connection.send(request("PATCH", client.upload_path(blob.digest, uid),
                                    {"Content-Range": f"0-{blob.size}",
                                     "Content-Length": blob.size}))
            connection.send(blob.data[:4 * MIB])
            time.sleep(0.3)
            filler = disk.fill_up()
            connection.send_until_answered(blob.data[4 * MIB:])
            assert_full(connection.answer("PATCH"))
        assert disk.uploads_gone_within(5)
        assert client.patch(blob.digest, uid, 0, blob.data).status in (404, 503)
        filler.unlink()
        assert disk.writes_again_within(10)
        assert disk.free_bytes() >= free - MIB
        assert client.upload(blob) == 200
        client.assert_has(blob)
    assert "event=upload_failed" in disk.log()


def test_the_database_survives_a_disk_without_a_single_byte_left(disk):
    """What it has allocated for its log may do, or not; either way no commit is half done."""
    small = stored(disk, Blob.random(MIB, "small"))
    blobs = [Blob.random(5000, f"sealed {i}") for i in range(40)]
    with KrakenClient(disk) as client, Reader(disk, small):
        uids = [client.begin(blob.digest) for blob in blobs]
        for blob, uid in zip(blobs, uids):
            assert client.patch(blob.digest, uid, 0, blob.data).status == 200
        filler = disk.fill_up()
        first = [client.commit(blob.digest, uid) for blob, uid in zip(blobs, uids)]
        assert {answer.status for answer in first} <= {200, 503}
        for answer in first:
            assert answer.status == 200 or int(answer.header("Retry-After")) >= 1
        time.sleep(0.3)  # Until the file system is asked again.
        assert_full(client.start(Blob.random(10, "late").digest))
        filler.unlink()
        assert disk.writes_again_within(10)
        for blob, uid, answer in zip(blobs, uids, first):
            # A commit that was refused has kept its upload.
            again = client.commit(blob.digest, uid).status
            assert again == 200 if answer.status == 503 else again == 404
            client.assert_has(blob)
        assert disk.uploads_gone_within(5)


def test_out_of_inodes_is_full_too(hard_time_out):
    with SmallDisk("size=64m,nr_inodes=200", LITTLE_FLOOR) as disk, KrakenClient(disk) as client:
        small = Blob.random(MIB, "small")
        assert client.upload(small) == 200
        stored_blobs = []
        with Reader(disk, small):
            for number in range(100):
                blob = Blob.random(1000, f"inode {number}")
                start = client.start(blob.digest)
                if start.status != 200:
                    assert_full(start)
                    break
                uid = start.header("Location")
                assert client.patch(blob.digest, uid, 0, blob.data).status == 200
                assert client.commit(blob.digest, uid).status == 200
                stored_blobs.append(blob)
            else:
                pytest.fail("100 blobs of 4 inodes each on 200 inodes")
            assert len(stored_blobs) > 10
            assert disk.upload_files() == []
            assert disk.free_inodes() >= 32  # For the database.
            assert_full(client.request("PUT", f"/cas/{blob.hex}", blob.data))
            for old in stored_blobs:
                client.assert_has(old)

            # Not one inode left: whatever happens, nothing is lost and reads go on.
            taken = disk.data / "taken"
            taken.mkdir()
            try:
                for number in range(300):
                    (taken / str(number)).touch()
            except OSError:
                pass
            assert_full(client.start(blob.digest))
            client.assert_has(stored_blobs[0])
            for path in taken.iterdir():
                path.unlink()
            assert disk.writes_again_within(10)
            for old in stored_blobs[:20]:  # Two inodes each: the shards' folders stay.
                assert client.delete(old.digest).status == 202
            assert client.upload(blob) == 200
            client.assert_has(blob)


def test_an_idle_promise_keeps_its_space_until_the_upload_is_cancelled(disk):
    with KrakenClient(disk) as client:
        greedy, other = Blob.random(10, "greedy"), Blob.random(30 * MIB, "other")
        path = f"{client.blob_path(greedy.digest)}/uploads?size={50 * MIB}"
        uid = client.request("POST", path).header("Location")
        answer = client.request("POST", f"{client.blob_path(other.digest)}/uploads"
                                        f"?size={other.size}")
        assert_full(answer)
        assert promised_bytes(client) == 50 * MIB
        assert client.cancel(greedy.digest, uid).status == 204
        assert promised_bytes(client) == 0
        assert client.upload(other) == 200


def promised_bytes(client) -> int:
    text = client.request("GET", "/readiness?verbose").body.decode()
    return int(re.search(r"space promised to uploads: (\d+) bytes", text).group(1))


def recorded_usage(client) -> tuple[int, int]:
    text = client.request("GET", "/readiness?verbose").body.decode()
    found = re.search(r"blobs: (\d+) on (\d+) bytes", text)
    return int(found.group(1)), int(found.group(2))


def test_usage_is_what_the_disk_says_after_a_mix_of_operations(daemon, client):
    """On a real disk, and counted over a crash."""
    blobs = [Blob.random(size, "usage") for size in (0, 1, 4095, 4096, 4097, 70_000, 3 * MIB)]
    for blob in blobs:
        assert client.upload(blob, chunk=MIB) == 200
        assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 200
    assert client.upload(blobs[3]) == 409
    assert client.delete(blobs[5].digest).status == 202
    assert client.delete(blobs[5].digest).status == 404
    assert client.request("PUT", f"/cas/{blobs[5].hex}", blobs[5].data).status == 201
    assert client.delete(blobs[2].digest).status == 202
    wrong = Blob.random(50, "wrong")
    uid = client.begin(wrong.digest)
    assert client.patch(wrong.digest, uid, 0, b"other bytes").status == 200
    assert client.commit(wrong.digest, uid).status == 400

    def on_disk() -> tuple[int, int]:
        files = daemon.blob_files()
        return len(files), sum(os.stat(file).st_blocks for file in files) * 512

    assert recorded_usage(client) == on_disk()
    daemon.restart(kill9=True)
    client.close()
    assert recorded_usage(client) == on_disk()
    assert on_disk()[0] == 6
