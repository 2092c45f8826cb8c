"""C09: sizes around 2^31 and 2^32, and past 5 GiB. The full set with ORLOP_FULL=1."""

import shutil
import time
from collections.abc import Iterator

import pytest

from blob import MIB, Blob
from connection import Connection, request
from daemon import FOLDERS, FULL, UNDER_ASAN

pytestmark = pytest.mark.usefixtures("still_alive")

END = b"sixteen last ..."
CHUNK = 32 * MIB
COMMIT_SECONDS_MAX = 2.0
MEMORY_GROWTH_MAX = 256 * MIB

# SHA-256 of the content below by its size, made by sha256sum: so the test need not hash 5 GiB
# before it may begin.
DIGESTS = {
    2**31 - 1: "1e131958f40eb8175e34ea455bfbe4b77deb6641bd26b88c68fd46b806f33ffa",
    2**31: "8b8509dd99978a803ac08666c909e79ac7c2ca8a448f902441800f5e450a121a",
    2**31 + 1: "74c1c3a946532a0195f86b78739f523111824837f2ea05c375ba551f2c808d36",
    2**32 - 1: "82c45ad1906bf7438291e74181a0fc760e865cae8cabb7163627f893ff2baa28",
    2**32 + 1: "58166486297b0e26fb04cb47327a9bea8268809d98e93578b8bde741213f26bb",
    5 * 1024 * MIB + 1: "f7a55744c5360eb52b5c3e8750cdae8828460be8ff0f2ca33c2221d9aea72ea2",
}
PAST_5_GIB = max(DIGESTS)


def content(size: int, start: int, end: int) -> Iterator[bytes]:
    """Bytes start to end: each MiB begins with its number, the rest of it is zeros, and the last 16
    bytes of the blob are END. So no two slices are alike, and nothing has to be kept."""
    at = start
    while at < end:
        number, offset = divmod(at, MIB)
        stop = min(end, (number + 1) * MIB)
        part = (b"%012d\n" % number).ljust(MIB, b"\0")[offset:offset + stop - at]
        if stop > size - len(END):
            kept = max(0, size - len(END) - at)
            part = part[:kept] + END[at + kept - (size - len(END)):stop - (size - len(END))]
        yield part
        at = stop


def send_chunk(connection: Connection, path: str, size: int, at: int, end: int) -> int:
    head = {"Content-Range": f"{at}-{end}", "Content-Length": end - at}
    connection.send(request("PATCH", path, head))
    for part in content(size, at, end):
        connection.send(part)
    return connection.answer().status


def assert_get_is_exact(port: int, path: str, size: int) -> None:
    """Compares as it arrives: a body that is too big to hold."""
    buffer = bytearray(MIB)
    with Connection(port, timeout=120) as connection:
        connection.send(request("GET", path, {"Connection": "close"}))
        # Byte by byte, so that nothing of the body is read with it.
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += connection.socket.recv(1)
        assert head.startswith(b"HTTP/1.1 200 ")
        assert f"content-length: {size}\r\n".encode() in head.lower()
        for number, part in enumerate(content(size, 0, size)):
            view = memoryview(buffer)[:len(part)]
            have = 0
            while have < len(part):
                count = connection.socket.recv_into(view[have:])
                assert count > 0, f"the body ends in its MiB {number}"
                have += count
            assert view == part, f"MiB {number} is not as it was sent"
        assert connection.socket.recv(1) == b""


ALL = [(size, [size]) for size in DIGESTS] + [(size, [CHUNK]) for size in DIGESTS]
# One chunk past 2^32 bytes, and then many.
SHORT = [(PAST_5_GIB, [2**32 + 1, CHUNK])]


@pytest.mark.limit(900)
@pytest.mark.parametrize("size, chunks", ALL if FULL else SHORT,
                         ids=lambda value: str(value).replace(" ", ""))
def test_a_blob_of_this_size_goes_in_and_out_exactly(daemon, client, size, chunks):
    free = shutil.disk_usage(FOLDERS).free
    assert free > 2 * size, f"only {free // MIB} MiB free in {FOLDERS}"
    hex_digits = DIGESTS[size]
    digest = f"sha256:{hex_digits}"
    before = daemon.memory_bytes()
    upload = client.upload_path(digest, client.begin(digest))
    with Connection(daemon.port, timeout=300) as connection:
        at, number = 0, 0
        while at < size:
            end = min(size, at + chunks[min(number, len(chunks) - 1)])
            assert send_chunk(connection, upload, size, at, end) == 200
            at, number = end, number + 1
        begun = time.monotonic()
        connection.send(request("PUT", upload))
        commit = connection.answer()
        seconds = time.monotonic() - begun
    assert commit.status == 200 and commit.is_empty()
    assert seconds < COMMIT_SECONDS_MAX, f"the commit took {seconds:.2f} s"
    print(f"{size} bytes: the commit took {seconds:.3f} s")

    paths = [client.blob_path(digest), f"/cas/{hex_digits}"]
    for head in [client.stat(digest), *(client.request("HEAD", path) for path in paths)]:
        assert (head.status, head.header("Content-Length")) == (200, str(size))
    assert [path.stat().st_size for path in daemon.blob_files()] == [size]
    for path in paths:
        last = client.request("GET", path, headers={"Range": "bytes=-16"})
        assert (last.status, last.body) == (206, END)
        assert last.header("Content-Range") == f"bytes {size - 16}-{size - 1}/{size}"
        for start, end in [(size - 1, size), (2**31 - 5, 2**31 + 5), (2**32 - 5, 2**32 + 5),
                           (0, 40)]:
            if end > size:
                continue
            answer = client.request("GET", path, headers={"Range": f"bytes={start}-{end - 1}"})
            assert answer.status == 206
            assert answer.header("Content-Range") == f"bytes {start}-{end - 1}/{size}"
            assert answer.body == b"".join(content(size, start, end))
    assert_get_is_exact(daemon.port, paths[-1], size)
    growth = daemon.memory_bytes("VmHWM") - before
    assert UNDER_ASAN or growth < MEMORY_GROWTH_MAX, f"the daemon's memory grew by {growth // MIB} MiB"
    print(f"{size} bytes: the daemon's memory grew by {growth // MIB} MiB")
    assert client.delete(digest).status == 202
    assert daemon.blob_files() == []


@pytest.mark.parametrize("length", ["9223372036854775808", "18446744073709551616", "-1",
                                    "99999999999999999999999"])
@pytest.mark.parametrize("target", ["start", "chunk", "commit", "put"])
def test_a_length_that_no_blob_can_have_is_400(shared_daemon, shared_client, target, length):
    blob = Blob.random(10, f"{target} {length}")
    uid = shared_client.begin(blob.digest)
    upload = shared_client.upload_path(blob.digest, uid)
    method, path = {"start": ("POST", f"{shared_client.blob_path(blob.digest)}/uploads"),
                    "chunk": ("PATCH", upload), "commit": ("PUT", upload),
                    "put": ("PUT", f"/cas/{blob.hex}")}[target]
    with Connection(shared_daemon.port) as connection:
        connection.send(request(method, path, {"Content-Length": length, "Content-Range": "0-10"})
                        + blob.data)
        assert [answer.status for answer in connection.answers_until_closed()] == [400]
    shared_client.assert_lacks(blob)
    assert shared_client.progress(blob.digest, uid) == 0
    assert shared_client.cancel(blob.digest, uid).status == 204


@pytest.mark.parametrize("length", [2**63 - 1, 2**62, 10**15])
def test_a_length_beyond_every_disk_is_refused_before_the_body(shared_daemon, length):
    """503 and not 400 where only our disk is too small for it: another origin may have room."""
    blob = Blob(b"0123456789")
    with Connection(shared_daemon.port) as connection:
        connection.send(request("PUT", f"/cas/{blob.hex}", {"Content-Length": length}) + blob.data)
        answer = connection.answer()
    assert answer.status in (400, 503)
    if answer.status == 503:
        assert int(answer.header("Retry-After")) >= 1
