"""Case C23: clients abort downloads in bulk; and what happens when descriptors run out."""

import re
import resource
import socket
import struct
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from alive import still_alive
from blob import KIB, MIB, Blob
from connection import Connection, request
from daemon import FULL, Daemon
from kraken_client import KrakenClient

ABORTS = 5000 if FULL else 200
AT_ONCE = 50
BYTES = (1024 if FULL else 64) * MIB
RESIDENT_MAX = 16 * MIB  # What the allocator may keep.


def put_zeros(daemon: Daemon, size: int) -> str:
    """A blob of `size` zeros that nobody has to hold in memory; its digest."""
    with KrakenClient(daemon, timeout=120) as client:
        zeros = bytes(MIB)
        answer = client.request("POST", "/cas", (zeros for _ in range(size // MIB)))
        assert answer.status == 201, answer
    return answer.header("Location").rpartition("/")[2]


def abort_after(port: int, head: bytes, count: int, reset: bool) -> None:
    """Reads `count` bytes and is gone, with a reset or, as a closed laptop's system does, an end."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(head)
        while count > 0 and (part := client.recv(min(count, 1 << 16))):
            count -= len(part)
        if reset:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.limit(600 if FULL else 60)
def test_aborted_downloads_leave_nothing_behind(daemon, client):
    digest = put_zeros(daemon, BYTES)
    whole = request("GET", f"/namespace/n/blobs/sha256:{digest}")
    ranged = request("GET", f"/cas/{digest}", {"Range": f"bytes={BYTES // 2}-"})
    several = request("GET", f"/cas/{digest}", {"Range": f"bytes=0-{BYTES // 4},{BYTES // 2}-"})

    def abort(number: int) -> None:
        head = [whole, ranged, several][number % 3]
        abort_after(daemon.port, head, 64 * KIB, reset=number % 2 == 0)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(abort, range(AT_ONCE)))  # What grows with the first clients is no leak.
        time.sleep(1)
        resident = daemon.memory_bytes()
        logged = len(daemon.log())
        with still_alive(daemon):
            list(pool.map(abort, range(ABORTS)))
        assert daemon.memory_bytes() < resident + RESIDENT_MAX
    assert "level=error" not in daemon.log(logged)
    assert daemon.log(logged).count("\n") < 10, "a line for each abort"
    # Nobody holds it any more.
    assert client.delete(f"sha256:{digest}").status == 202
    free_at = time.monotonic() + 10
    while any(target.endswith(" (deleted)") for target in open_files(daemon)):
        assert time.monotonic() < free_at, "a deleted blob is still open"
        time.sleep(0.1)


def open_files(daemon: Daemon) -> list[str]:
    targets = []
    for link in Path(f"/proc/{daemon.pid}/fd").iterdir():
        try:
            targets.append(str(link.readlink()))
        except FileNotFoundError:
            continue
    return targets


@contextmanager
def descriptors_limited_to(daemon: Daemon, count: int):
    """The daemon gets no descriptor above this number, whatever it was promised at its start."""
    before = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (count, before[1]))
    try:
        yield
    finally:
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, before)


def next_descriptor(daemon: Daemon) -> int:
    """The number that the next one will have, once the connections of before are closed."""
    def used() -> set[int]:
        return {int(link.name) for link in Path(f"/proc/{daemon.pid}/fd").iterdir()}

    before = used()
    time.sleep(0.3)
    while (now := used()) != before:
        before = now
        time.sleep(0.3)
    return next(number for number in range(len(now) + 1) if number not in now)


@pytest.mark.parametrize("method, path", [
    ("GET", "/cas/{hex}"), ("HEAD", "/cas/{hex}"),
    ("GET", "/namespace/n/blobs/sha256:{hex}"),
    ("HEAD", "/internal/namespace/n/blobs/sha256:{hex}"),
    ("POST", "/namespace/n/blobs/sha256:{new}/uploads"),
    ("POST", "/internal/blobs/sha256:{new}/uploads"), ("PUT", "/cas/{new}"), ("POST", "/cas")])
def test_without_a_descriptor_a_request_gets_503_and_never_not_found(daemon, client, method, path):
    here, new = Blob.random(512 * KIB, "here"), Blob.random(1000, "new")
    assert client.upload(here) == 200
    ask = request(method, path.format(hex=here.hex, new=new.hex), {},
                  new.data if method in ("PUT", "POST") and "cas" in path else b"")
    with Connection(daemon.port) as connection:
        connection.send(request("GET", "/health"))
        assert connection.answer().body == b"OK\n"
        with descriptors_limited_to(daemon, next_descriptor(daemon)):
            connection.send(ask)
            answer = connection.answer(method)
            assert answer.status == 503, answer
            assert int(answer.header("Retry-After")) >= 1
            connection.send(request("GET", "/health"))
            assert connection.answer().body == b"OK\n"
        connection.send(ask)
        assert connection.answer(method).status in (200, 201)
    assert client.get(here.digest).body == here.data


def test_without_a_descriptor_new_connections_wait_and_are_served_later(daemon):
    with still_alive(daemon), ExitStack() as stack:
        with descriptors_limited_to(daemon, next_descriptor(daemon)):
            waiting = [stack.enter_context(Connection(daemon.port)) for _ in range(20)]
            for connection in waiting:
                connection.send(request("GET", "/health", {"Connection": "close"}))
            assert waiting[0].silent_for(0.5)
            assert daemon.process.poll() is None
        assert [connection.answer().body for connection in waiting] == [b"OK\n"] * 20
        assert daemon.log().count("event=accepting_paused") == 1
        stack.close()


class FewDescriptors(Daemon):
    """A daemon that the system allows 64 descriptors, from its start."""

    def command(self, *arguments, **named) -> list[str]:
        return ["prlimit", "--nofile=64:64", *super().command(*arguments, **named)]


@pytest.mark.limit(120)
def test_with_64_descriptors_a_crowd_is_served_or_told_to_come_again():
    blob = Blob.random(512 * KIB, "crowd")
    statuses, lock = Counter(), threading.Lock()
    with FewDescriptors() as daemon, KrakenClient(daemon) as client:
        assert client.upload(blob) == 200
        client.close()
        limits = re.search(r"event=limits .*?descriptors_max=(\d+) connections_max=(\d+)",
                           daemon.log())
        assert limits.group(1) == "64"
        assert 1 <= int(limits.group(2)) <= 32

        def one_of_the_crowd(number: int) -> None:
            mine = Blob.random(2000, number)
            with KrakenClient(daemon, timeout=60) as visitor:
                for answer in (visitor.get(blob.digest), visitor.stat(blob.digest),
                               visitor.request("PUT", f"/cas/{mine.hex}", mine.data)):
                    if answer.status == 503:
                        assert int(answer.header("Retry-After")) >= 1
                    with lock:
                        statuses[answer.status] += 1
                    if answer.status == 200 and answer.body:
                        assert answer.body == blob.data or b'"digest"' in answer.body

        with ThreadPoolExecutor(60) as pool:
            list(pool.map(one_of_the_crowd, range(240)))
        print(f"C23: {dict(statuses)}")
        assert set(statuses) <= {200, 201, 503}
        assert statuses[200] > 0 and statuses[201] > 0
        assert "level=error" not in daemon.log()
        client.assert_has(blob)
        assert client.upload(Blob.random(3 * MIB, "afterwards")) == 200


@pytest.mark.limit(120)
def test_with_64_descriptors_uploads_beyond_them_get_503_and_end_well_later():
    with FewDescriptors() as daemon, KrakenClient(daemon) as client:
        blobs = [Blob.random(1000, number) for number in range(100)]
        begun, refused = {}, 0
        for blob in blobs:
            answer = client.start(blob.digest)
            assert answer.status in (200, 503), answer
            if answer.status == 200:
                begun[answer.header("Location")] = blob
            else:
                assert int(answer.header("Retry-After")) >= 1
                refused += 1
        assert refused > 0
        # Those that were let in can be carried to their end.
        for uid, blob in begun.items():
            assert client.patch(blob.digest, uid, 0, blob.data).status == 200
            assert client.commit(blob.digest, uid).status == 200
        for blob in blobs:
            assert client.upload(blob) in (200, 409)
            client.assert_has(blob)
