"""Eviction by the marks, on a tmpfs of its own."""

import re
import threading
import time

import pytest

from blob import MIB, Blob
from connection import Connection, request
from kraken_client import KrakenClient
from small_disk import SmallDisk

MARKS = {"store.free_bytes_min": "1MB",
         "castore.cache_cleanup.aggressive_threshold": "70",
         "castore.cache_cleanup.aggressive_lower_threshold": "40",
         "castore.cache_cleanup.interval": "1s"}
DISK = 64 * MIB


class InternalClient(KrakenClient):
    """Another origin that hands over its blobs: they are backed."""

    def blob_path(self, digest: str) -> str:
        return f"/internal/blobs/{digest}"


def hand_over(disk, blobs) -> None:
    with InternalClient(disk) as other:
        for blob in blobs:
            assert other.upload(blob, chunk=MIB) == 200


def blobs_of(count: int, name: str, size: int = MIB) -> list[Blob]:
    return [Blob.random(size, f"{name} {i}") for i in range(count)]


def used_percent(disk) -> float:
    return percent(disk.used_bytes())


def percent(size: int) -> float:
    return 100 * size / DISK


def passes(disk) -> int:
    return disk.log().count("event=evicted ")


def wait_until(what, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.05)
    return False


def here(client, blobs) -> list[bool]:
    return [client.stat(blob.digest).status == 200 for blob in blobs]


@pytest.fixture
def disk(hard_time_out):
    with SmallDisk("size=64m", MARKS) as daemon:
        yield daemon


def test_from_the_high_mark_on_the_oldest_go_until_the_low_mark_is_reached(disk):
    with KrakenClient(disk) as client:
        only_copy = Blob.random(MIB, "only copy")
        assert client.upload(only_copy) == 200
        blobs = blobs_of(36, "below")
        hand_over(disk, blobs)
        time.sleep(2.5)
        assert used_percent(disk) < 70
        assert all(here(client, blobs))

        # Committed in a later second than the others, as the order within an hour goes by it.
        newest = blobs_of(10, "newest")
        hand_over(disk, newest)
        assert wait_until(lambda: passes(disk) == 1, 15)
        # Some of the newest may have come after the pass.
        assert 37 < used_percent(disk) <= 40 + percent(10 * MIB)
        assert all(here(client, newest))
        client.assert_has(only_copy)
        for blob, is_here in zip(blobs, here(client, blobs)):
            (client.assert_has if is_here else client.assert_lacks)(blob)
        # What went can come again.
        lost = blobs[here(client, blobs).index(False)]
        hand_over(disk, [lost])
        client.assert_has(lost)
    log = disk.log()
    assert re.search(r"event=eviction .*from 70% used down to 40%", log)
    assert re.search(r"event=evicted blobs=\d+ .*low_mark_percent=40", log)


def test_what_may_not_go_stays_and_the_log_says_that_the_mark_is_not_reached(disk):
    blobs = blobs_of(48, "only copies")
    with KrakenClient(disk) as client:
        for blob in blobs:
            assert client.upload(blob) == 200
        assert wait_until(lambda: "event=low_mark_not_reached" in disk.log(), 10)
        time.sleep(2.5)
        assert all(here(client, blobs))
    assert disk.log().count("event=low_mark_not_reached") == 1


def test_a_slow_reader_keeps_its_blob_and_reads_it_to_the_end(disk):
    large = Blob.random(12 * MIB, "being read")
    with KrakenClient(disk) as client, Connection(disk.port, timeout=30) as reader:
        hand_over(disk, [large])
        reader.send(request("GET", f"/cas/{large.hex}"))
        assert reader._through(b"\r\n\r\n").startswith(b"HTTP/1.1 200")
        time.sleep(1.1)  # The oldest by the second.
        hand_over(disk, blobs_of(34, "later"))
        assert wait_until(lambda: passes(disk) == 1, 15)
        assert client.stat(large.digest).status == 200
        assert reader._exactly(large.size) == large.data
        # Nobody reads it any more: it is the next to go.
        reader.close()
        time.sleep(0.2)
        later = blobs_of(30, "still later")
        for blob in later:
            hand_over(disk, [blob])
            if passes(disk) > 1:
                break
        assert wait_until(lambda: passes(disk) > 1, 15)
        assert client.stat(large.digest).status == 404


def test_readers_get_the_right_bytes_or_404_while_blobs_come_and_go(disk):
    blobs = blobs_of(84, "race", size=MIB // 2)
    hand_over(disk, blobs)  # Nearly to the high mark.
    over = threading.Event()
    wrong, found, absent = [], [0], [0]

    def read(number: int) -> None:
        with KrakenClient(disk) as client:
            at = number
            while not over.is_set():
                blob = blobs[at % len(blobs)]
                at += 7
                answer = client.get(blob.digest)
                if answer.status == 200 and answer.body == blob.data:
                    found[0] += 1
                elif answer.status == 404:
                    absent[0] += 1
                else:
                    wrong.append((answer.status, len(answer.body)))

    readers = [threading.Thread(target=read, args=(i,)) for i in range(16)]
    for reader in readers:
        reader.start()
    try:
        with InternalClient(disk) as other:
            for number in range(8):  # Beyond the high mark, and far from full.
                assert other.upload(Blob.random(MIB, f"more {number}")) == 200
            assert wait_until(lambda: passes(disk) > 0, 15)
            for blob in blobs[:10]:  # They come back while others go.
                assert other.upload(blob) in (200, 409)
    finally:
        over.set()
        for reader in readers:
            reader.join()
    assert wrong == []
    assert found[0] > 0


def test_forced_clean_up_follows_the_same_rules(disk):
    large = Blob.random(8 * MIB, "being read")
    others = blobs_of(8, "backed")
    with KrakenClient(disk) as client, Connection(disk.port, timeout=30) as reader:
        only_copy = Blob.random(MIB, "only copy")
        assert client.upload(only_copy) == 200
        hand_over(disk, [large, *others])
        reader.send(request("GET", f"/cas/{large.hex}"))
        assert reader._through(b"\r\n\r\n").startswith(b"HTTP/1.1 200")

        answer = client.request("POST", "/forcecleanup/v2?target_util_percent=0"
                                        "&respect_eviction_ban=true")
        assert answer.status == 200, answer
        assert here(client, [only_copy, large]) == [True, True]
        assert not any(here(client, others))
        hand_over(disk, others)
        answer = client.request("POST", "/forcecleanup?ttl_hr=-1")
        assert answer.status == 200, answer
        assert here(client, [only_copy, large]) == [True, True]
        assert not any(here(client, others))

        assert client.delete(large.digest).status == 202  # An operator need not wait.
        client.assert_lacks(large)
        assert reader._exactly(large.size) == large.data
