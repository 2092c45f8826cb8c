"""5 GiB + 1 byte, in 32 MiB chunks and in one (ORLOP_FULL=1 only)."""

import hashlib
import random
import shutil
import time
from collections.abc import Iterator

import pytest

from blob import MIB
from connection import Connection, request
from daemon import FOLDERS, FULL

pytestmark = pytest.mark.skipif(not FULL, reason="5 GiB: only with ORLOP_FULL=1")

SIZE = 5 * 1024 * MIB + 1
CHUNK = 32 * MIB
COMMIT_SECONDS_MAX = 2.0
MEMORY_GROWTH_MAX = 256 * MIB
DISK_BYTES_NEEDED = 2 * SIZE


class BigContent:
    """Zeros with a stamp at the head of each MiB and 16 random bytes at the end: every slice of it
    differs, and none of it is kept."""

    def __init__(self, seed: str):
        self._seed = seed
        self._end = random.Random(seed).randbytes(16)
        digest = hashlib.sha256()
        for part in self.parts(0, SIZE):
            digest.update(part)
        self.hex = digest.hexdigest()

    def parts(self, start: int, end: int) -> Iterator[bytes]:
        """From `start`, a multiple of one MiB."""
        for at in range(start, end, MIB):
            size = min(MIB, end - at)
            part = f"{self._seed} {at // MIB:012d}\n".encode().ljust(size, b"\0")[:size]
            # The last 16 bytes of the content may lie in two parts.
            tail_at = SIZE - len(self._end)
            for index in range(max(at, tail_at), min(at + size, SIZE)):
                offset = index - at
                part = part[:offset] + self._end[index - tail_at:][:1] + part[offset + 1:]
            yield part

    def slice(self, start: int, end: int) -> bytes:
        base = start - start % MIB
        return b"".join(self.parts(base, min(SIZE, end + MIB - end % MIB)))[start - base:end - base]


def send_chunk(connection: Connection, path: str, content: BigContent, at: int, end: int) -> int:
    head = {"Content-Range": f"{at}-{end}", "Content-Length": end - at}
    connection.send(request("PATCH", path, head))
    for part in content.parts(at, end):
        connection.send(part)
    return connection.answer().status


@pytest.mark.limit(900)
@pytest.mark.parametrize("chunk", [CHUNK, SIZE], ids=["32 MiB chunks", "one chunk"])
def test_five_gib_and_a_byte(daemon, client, chunk):
    free = shutil.disk_usage(FOLDERS).free
    assert free > DISK_BYTES_NEEDED, f"only {free // MIB} MiB free in {FOLDERS}"
    content = BigContent(f"chunk {chunk}")
    before = daemon.memory_bytes()
    digest = f"sha256:{content.hex}"
    upload = client.upload_path(digest, client.begin(digest))
    with Connection(daemon.port, timeout=120) as connection:
        for at in range(0, SIZE, chunk):
            assert send_chunk(connection, upload, content, at, min(at + chunk, SIZE)) == 200
        begun = time.monotonic()
        connection.send(request("PUT", upload))
        commit = connection.answer()
        seconds = time.monotonic() - begun
    assert commit.status == 200
    assert seconds < COMMIT_SECONDS_MAX, f"the commit took {seconds:.2f} s"

    stat = client.stat(digest)
    assert (stat.status, stat.header("Content-Length")) == (200, str(SIZE))
    assert sha256_of_get(daemon.port, f"/cas/{content.hex}") == (SIZE, content.hex)
    for start, end in [(SIZE - 16, SIZE), (2**31 - 5, 2**31 + 5), (2**32 - 5, 2**32 + 5), (0, 40)]:
        answer = client.request("GET", f"/cas/{content.hex}",
                                headers={"Range": f"bytes={start}-{end - 1}"})
        assert answer.status == 206
        assert answer.header("Content-Range") == f"bytes {start}-{end - 1}/{SIZE}"
        assert answer.body == content.slice(start, end)
    growth = daemon.memory_bytes("VmHWM") - before
    assert growth < MEMORY_GROWTH_MAX, f"the daemon's memory grew by {growth // MIB} MiB"
    assert client.delete(digest).status == 202
    assert daemon.blob_files() == []


def sha256_of_get(port: int, path: str) -> tuple[int, str]:
    """Size and digest of a body that is too big to hold."""
    digest, size = hashlib.sha256(), 0
    with Connection(port, timeout=120) as connection:
        connection.send(request("GET", path, {"Connection": "close"}))
        received = b""
        while b"\r\n\r\n" not in received:
            received += connection.socket.recv(65536)
        head, _, part = received.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        assert f"content-length: {SIZE}".encode() in head.lower()
        part = part or connection.socket.recv(1 << 20)  # The head may come alone.
        while part:
            digest.update(part)
            size += len(part)
            part = connection.socket.recv(1 << 20)
    return size, digest.hexdigest()
