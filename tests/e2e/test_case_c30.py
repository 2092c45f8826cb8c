"""C30: very many small blobs. Memory, inodes and the time to start do not follow their number, and
neither storing nor removing them gets in the way of others."""

import hashlib
import http.client
import os
import random
import re
import socket
import threading
import time
from pathlib import Path

import pytest

from alive import assert_serves
from blob import MIB, Blob
from daemon import FULL, UNDER_ASAN, Daemon
from kraken_client import NAMESPACE, KrakenClient

BLOBS = 200_000 if FULL else 5_000
CONNECTIONS = 16
WARM_UP = 200  # Blobs before memory is first looked at: threads and buffers are there by then.

MEMORY_PER_BLOB_MAX = 100
# What RocksDB is given, however many blobs there are (metadata/rocksdb_options.h). It fills by some
# 400 bytes a blob, so to few blobs it looks like growth; and 4 MiB for the allocator's moods.
DATABASE_BUDGET = 4 * MIB + min(44 * MIB, 1024 * BLOBS)
FIRST_GET_SECONDS_MAX = 5.0
# Kraken's layout: a folder and a file for each blob, below at most 256 + 256² folders.
INODES_PER_BLOB, SHARDS_MAX = 2, 256 + 256 * 256
DIRECTORY_ENTRIES_MAX = 2_000
STALL_SECONDS_MAX = 10.0  # Far above what is seen: two cores may be busy with something else.
SLOWDOWN_MAX = 4.0  # 1.25 is wanted, and printed. More is not the machine's mood.

LOCATION = re.compile(rb"\r\nLocation: (\S+)\r\n")


def small_blob(number: int) -> Blob:
    return Blob(hashlib.shake_128(f"c30/{number}".encode()).digest(100))


class Uploader(threading.Thread):
    """Stores each number of its share by start, chunk and commit, on one connection."""

    def __init__(self, port: int, numbers: range):
        super().__init__(daemon=True)
        self.fault: BaseException | None = None
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._numbers = numbers

    def run(self) -> None:
        try:
            for number in self._numbers:
                self._store(small_blob(number))
        except BaseException as fault:
            self.fault = fault
        finally:
            self._socket.close()

    def _store(self, blob: Blob) -> None:
        uploads = f"/namespace/{NAMESPACE}/blobs/{blob.digest}/uploads"
        head = self._exchange(f"POST {uploads} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        upload = f"{uploads}/{LOCATION.search(head).group(1).decode()}"
        self._exchange(f"PATCH {upload} HTTP/1.1\r\nHost: x\r\nContent-Range: 0-{blob.size}\r\n"
                       f"Content-Length: {blob.size}\r\n\r\n".encode() + blob.data)
        self._exchange(f"PUT {upload} HTTP/1.1\r\nHost: x\r\n\r\n".encode())

    def _exchange(self, sent: bytes) -> bytes:
        """All three answers are 200 and have no body."""
        self._socket.sendall(sent)
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            part = self._socket.recv(4096)
            assert part, f"closed after {head!r}"
            head += part
        assert head.startswith(b"HTTP/1.1 200 "), head
        assert b"\r\nContent-Length: 0\r\n" in head, head
        return head


def store(daemon: Daemon, first: int, end: int) -> float:
    """Stores the blobs of these numbers; blobs a second."""
    uploaders = [Uploader(daemon.port, range(first + share, end, CONNECTIONS))
                 for share in range(CONNECTIONS)]
    begun = time.monotonic()
    for uploader in uploaders:
        uploader.start()
    for uploader in uploaders:
        uploader.join()
    for uploader in uploaders:
        assert uploader.fault is None, uploader.fault
    return (end - first) / (time.monotonic() - begun)


def drop_page_cache() -> bool:
    """Only where it cannot slow down everybody else's day: in the long runs."""
    if not FULL:
        return False
    os.sync()
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3")
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def many():
    """A daemon with BLOBS small blobs, and what was seen while they came."""
    with Daemon({"castore.cache_cleanup.evict_unbacked": "true"}) as daemon:
        store(daemon, BLOBS, BLOBS + WARM_UP)
        before = daemon.memory_bytes()
        rates, memory = [], []
        for tenth in range(10):
            rates.append(store(daemon, tenth * BLOBS // 10, (tenth + 1) * BLOBS // 10))
            memory.append(daemon.memory_bytes())
        print("blobs a second:", *(f"{rate:.0f}" for rate in rates))
        print("memory over what it was, MiB:", *(f"{(m - before) / MIB:.1f}" for m in memory))
        daemon.seen = (before, rates, memory)
        yield daemon


@pytest.mark.limit(3600 if FULL else 400)
def test_memory_does_not_follow_the_number_of_blobs(many):
    before, _, memory = many.seen
    growth = memory[-1] - before
    assert UNDER_ASAN or growth <= MEMORY_PER_BLOB_MAX * BLOBS + DATABASE_BUDGET


def test_the_rate_does_not_fall_as_blobs_come(many):
    _, rates, _ = many.seen
    print(f"last tenth / first tenth: {rates[-1] / rates[0]:.2f}")
    # The best of each half: a single tenth tells more about who else uses the machine.
    assert max(rates[:5]) / max(rates[5:]) < SLOWDOWN_MAX


@pytest.mark.limit(300)
def test_inodes_are_two_a_blob_and_folders_are_small(many):
    inodes, widest = 0, 0
    for _, folders, files in os.walk(many.data / "cache"):
        inodes += len(folders) + len(files)
        widest = max(widest, len(folders) + len(files))
    blobs = BLOBS + WARM_UP
    print(f"{inodes / blobs:.2f} inodes a blob, at most {widest} entries in a folder")
    assert len(many.blob_files()) == blobs
    # Shards come on top, at most one a blob and no more than there are: 0.33 a blob at 200,000.
    assert inodes <= INODES_PER_BLOB * blobs + min(SHARDS_MAX, 256 + blobs)
    assert widest <= DIRECTORY_ENTRIES_MAX
    assert many.upload_files_after_settling() == []
    database = sum(1 for _ in (many.data / "db").iterdir())
    assert database < 300, "the database's files do not count with the blobs"


@pytest.mark.limit(300)
def test_the_first_get_after_a_restart_is_soon(many):
    chance = random.Random(30)
    for kill9 in [False, True]:
        many.kill9() if kill9 else many.stop()
        dropped = drop_page_cache()
        begun = time.monotonic()
        many.start()
        blob = small_blob(chance.randrange(BLOBS))
        with KrakenClient(many) as client:
            got = client.get(blob.digest)
            seconds = time.monotonic() - begun
            assert (got.status, got.body) == (200, blob.data)
            print(f"first GET {seconds:.2f} s after the start, page cache "
                  f"{'dropped' if dropped else 'warm'}")
            assert seconds < FIRST_GET_SECONDS_MAX
            for _ in range(100):
                client.assert_has(small_blob(chance.randrange(BLOBS)))


@pytest.mark.limit(1800 if FULL else 300)
def test_removing_them_all_stalls_nobody(many):
    """The last test: nothing is left after it."""
    fault, removed = [], threading.Event()

    def remove() -> None:
        try:
            with KrakenClient(many, timeout=1700) as client:
                answer = client.request("POST", "/forcecleanup?ttl_hr=-1")
                assert answer.status == 200, answer
        except (AssertionError, OSError, http.client.HTTPException) as failure:
            fault.append(failure)
        finally:
            removed.set()

    remover = threading.Thread(target=remove)
    remover.start()
    slowest, rounds = 0.0, 0
    with KrakenClient(many) as client:
        while not removed.is_set():
            blob = Blob.random(10_000, f"meanwhile {rounds}")
            begun = time.monotonic()
            assert client.request("GET", "/health").status == 200
            assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
            assert client.get(small_blob(rounds % BLOBS).digest).status in (200, 404)
            slowest = max(slowest, time.monotonic() - begun)
            rounds += 1
    remover.join()
    print(f"{rounds} rounds of three requests meanwhile, the slowest {slowest * 1000:.0f} ms")
    assert fault == []
    assert slowest < STALL_SECONDS_MAX
    with KrakenClient(many) as client:
        for number in random.Random(31).sample(range(BLOBS), 50):
            assert client.get(small_blob(number).digest).status == 404
    assert_serves(many)
