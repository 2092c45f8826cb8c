"""Several ranges in one answer: multipart/byteranges (RFC 9110, section 14.6), byte by byte."""

import random
import re
import subprocess

import pytest

from blob import EMPTY, KIB, MIB, Blob
from connection import Answer, Connection, request
from daemon import Daemon
from kraken_client import KrakenClient

SMALL = Blob.random(1000, "multi")  # Sent from memory.
LARGE = Blob.random(9 * MIB + 7, "multi")  # Sent from its file.
BLOBS = [SMALL, LARGE]
RANGES_MAX = 1024


@pytest.fixture(scope="module")
def stored():
    with Daemon() as daemon, KrakenClient(daemon) as client:
        for blob in [*BLOBS, EMPTY]:
            assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
        yield daemon


def paths(blob: Blob) -> list[str]:
    return [f"/cas/{blob.hex}", f"/namespace/team%2Fapp/blobs/{blob.digest}"]


def ask(daemon: Daemon, path: str, ranges: str, method: str = "GET") -> Answer:
    """The answer, after which the same connection must still be in step."""
    with Connection(daemon.port) as connection:
        connection.send(request(method, path, {"Range": f"bytes={ranges}"})
                        + request("GET", "/health", {"Connection": "close"}))
        answer, health = connection.answer(method), connection.answer()
        assert (health.status, health.body) == (200, b"OK\n")
        assert connection.is_closed()
        return answer


def boundary_of(answer: Answer) -> bytes:
    match = re.fullmatch(r"multipart/byteranges; boundary=([a-z0-9-]{1,70})",
                         answer.header("Content-Type"))
    assert match, answer.header("Content-Type")
    return match.group(1).encode()


def parts_of(answer: Answer, blob: Blob) -> list[tuple[int, int]]:
    """The parts as (first, last). Each byte of the body is accounted for, and right.

    Reads the lengths from Content-Range, as a client should, and not by looking for the boundary.
    """
    assert answer.status == 206, answer
    assert answer.header("Content-Range") is None
    assert answer.header("ETag") == f'"{blob.digest}"'
    assert answer.header("Accept-Ranges") == "bytes"
    boundary = boundary_of(answer)
    left, parts = answer.body, []
    while True:
        delimiter = (b"\r\n--" if parts else b"--") + boundary
        assert left.startswith(delimiter), left[:100]
        left = left[len(delimiter):]
        if left == b"--\r\n":
            return parts
        head, _, left = left.partition(b"\r\n\r\n")
        match = re.fullmatch(rb"\r\nContent-Type: application/octet-stream\r\n"
                             rb"Content-Range: bytes (\d+)-(\d+)/(\d+)", head)
        assert match, head
        first, last, size = map(int, match.groups())
        assert size == blob.size
        length = last - first + 1
        assert left[:length] == blob.data[first:last + 1], f"wrong bytes in {first}-{last}"
        assert boundary not in left[:length]
        left = left[length:]
        parts.append((first, last))


@pytest.mark.parametrize("blob", BLOBS, ids=["small", "large"])
@pytest.mark.parametrize("ranges, parts", [
    ("0-1,5-6", [(0, 1), (5, 6)]),
    ("5-6,0-1", [(5, 6), (0, 1)]),
    ("0-0,2-2,4-4", [(0, 0), (2, 2), (4, 4)]),
    ("0-9 ,\t20-29,,", [(0, 9), (20, 29)]),
    ("0-9,99999999999999999999-,20-29", [(0, 9), (20, 29)]),
    ("900-950,100-199,150-300", [(900, 950), (100, 300)]),
    ("7-9,3-4,10-10,0-0,5-5", [(7, 10), (3, 5), (0, 0)]),
])
def test_several_ranges_are_the_parts_of_one_answer(stored, blob, ranges, parts):
    for path in paths(blob):
        assert parts_of(ask(stored, path, ranges), blob) == parts


@pytest.mark.parametrize("blob", BLOBS, ids=["small", "large"])
def test_parts_at_the_end_are_clipped_to_the_blob(stored, blob):
    end = blob.size - 1
    for path in paths(blob):
        answer = ask(stored, path, f"0-0,-2,{end}-{end + 5}")
        assert parts_of(answer, blob) == [(0, 0), (end - 1, end)]


def test_large_parts_cross_slices_exactly(stored):
    wanted = [(8 * MIB - 1, 9 * MIB + 6), (3, 4 * MIB + 1), (5 * MIB, 5 * MIB + 65536)]
    ranges = ",".join(f"{first}-{last}" for first, last in wanted)
    for path in paths(LARGE):
        assert parts_of(ask(stored, path, ranges), LARGE) == wanted


@pytest.mark.parametrize("blob", [Blob.random(4 * KIB, "many"), LARGE], ids=["small", "large"])
def test_1024_ranges_are_1024_parts(stored, blob):
    with KrakenClient(stored) as client:
        assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status in (200, 201)
    step = blob.size // RANGES_MAX
    wanted = [(at * step, at * step + step - 2) for at in range(RANGES_MAX)]
    random.Random(1).shuffle(wanted)
    ranges = ",".join(f"{first}-{last}" for first, last in wanted)
    for path in paths(blob):
        assert parts_of(ask(stored, path, ranges), blob) == wanted
        one_more = ask(stored, path, ranges + ",0-0")
        assert (one_more.status, one_more.body) == (200, blob.data)


@pytest.mark.parametrize("blob", BLOBS, ids=["small", "large"])
@pytest.mark.parametrize("ranges, first, last", [
    ("0-4,5-9", 0, 9), ("5-9,0-4", 0, 9), ("0-9,3-5", 0, 9), ("3-3,3-3,3-3", 3, 3),
    ("10-19,5000000000-", 10, 19), ("0-5,4-9,2-3", 0, 9),
])
def test_ranges_that_make_one_are_answered_as_one(stored, blob, ranges, first, last):
    for path in paths(blob):
        answer = ask(stored, path, ranges)
        assert (answer.status, answer.body) == (206, blob.data[first:last + 1])
        assert answer.header("Content-Range") == f"bytes {first}-{last}/{blob.size}"
        assert answer.header("Content-Type") == "application/octet-stream"


@pytest.mark.parametrize("blob", BLOBS, ids=["small", "large"])
@pytest.mark.parametrize("one", ["0-", "1-", "-1000000000", "0-99999999"])
def test_a_blob_asked_for_a_thousand_times_is_sent_once(stored, blob, one):
    """cpp-httplib#1766: overlapping ranges cost dozens of GB."""
    answer = ask(stored, paths(blob)[0], ",".join([one] * RANGES_MAX))
    first = 1 if one == "1-" else 0
    assert (answer.status, answer.body) == (206, blob.data[first:])


@pytest.mark.parametrize("ranges", ["5000000000-,6000000000-7000000000", "-0,-0"])
def test_several_ranges_past_the_end_are_416(stored, ranges):
    for path in paths(SMALL):
        answer = ask(stored, path, ranges)
        assert (answer.status, answer.is_empty()) == (416, True)
        assert answer.header("Content-Range") == "bytes */1000"


def test_several_ranges_of_the_empty_blob_are_416(stored):
    answer = ask(stored, paths(EMPTY)[0], "0-0,2-3")
    assert (answer.status, answer.header("Content-Range")) == (416, "bytes */0")


@pytest.mark.parametrize("ranges", ["0-1,5-3", "0-1,a-b", "0-1,-", "0-1;5-6"])
def test_one_malformed_range_makes_all_be_ignored(stored, ranges):
    for path in paths(SMALL):
        answer = ask(stored, path, ranges)
        assert (answer.status, answer.body) == (200, SMALL.data)


@pytest.mark.parametrize("blob", BLOBS, ids=["small", "large"])
def test_head_ignores_several_ranges(stored, blob):
    for path in paths(blob):
        answer = ask(stored, path, "0-1,5-6", "HEAD")
        assert (answer.status, answer.header("Content-Length")) == (200, str(blob.size))
        assert answer.header("Content-Type") == "application/octet-stream"


def test_boundaries_are_new_each_time_and_of_one_length(stored):
    boundaries = {boundary_of(ask(stored, paths(SMALL)[0], "0-1,5-6")) for _ in range(20)}
    assert len(boundaries) == 20
    assert len({len(boundary) for boundary in boundaries}) == 1


def test_http_1_0_gets_parts_too(stored):
    with Connection(stored.port) as connection:
        connection.send(request("GET", paths(LARGE)[0], {"Range": "bytes=0-1,5-6"},
                                version="HTTP/1.0"))
        assert parts_of(connection.answer(), LARGE) == [(0, 1), (5, 6)]
        assert connection.is_closed()


def test_a_slow_reader_gets_every_part(stored):
    """The socket's buffer fills within a part: the rest waits, and nothing is lost or doubled."""
    wanted = [(at * 2 * MIB, at * 2 * MIB + MIB) for at in range(4)] + [(9 * MIB, 9 * MIB + 6)]
    ranges = ",".join(f"{first}-{last}" for first, last in wanted)
    with Connection(stored.port) as connection:
        connection.send(request("GET", paths(LARGE)[0], {"Range": f"bytes={ranges}"}))
        assert not connection.silent_for(5.0)
        with Connection(stored.port) as other:  # Meanwhile the others are served.
            for _ in range(20):
                other.send(request("GET", "/health"))
                assert other.answer().status == 200
        assert parts_of(connection.answer(), LARGE) == wanted


def test_a_client_that_leaves_within_a_part_harms_nobody(stored):
    ranges = ",".join(f"{at * 10}-{at * 10 + 8}" for at in range(RANGES_MAX - 1)) + ",1048576-"
    log_before = stored.log_path.stat().st_size
    for _ in range(20):
        with Connection(stored.port) as connection:
            connection.send(request("GET", paths(LARGE)[0], {"Range": f"bytes={ranges}"}))
            assert not connection.silent_for(5.0)
    assert parts_of(ask(stored, paths(LARGE)[0], "0-1,5-6"), LARGE) == [(0, 1), (5, 6)]
    assert "level=error" not in stored.log(log_before)


def test_a_multi_range_reads_a_blob_that_was_deleted_meanwhile_to_its_end(daemon, client):
    blob = Blob.random(24 * MIB, "deleted")
    assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
    wanted = [(0, 11 * MIB), (12 * MIB, 24 * MIB - 1)]
    ranges = ",".join(f"{first}-{last}" for first, last in wanted)
    with Connection(daemon.port) as connection:
        connection.send(request("GET", paths(blob)[0], {"Range": f"bytes={ranges}"}))
        assert not connection.silent_for(5.0)
        assert client.request("DELETE", f"/cas/{blob.hex}").status == 204
        assert parts_of(connection.answer(), blob) == wanted


@pytest.mark.parametrize("blob", BLOBS, ids=["small", "large"])
def test_curl_gets_parts(stored, blob):
    for path in paths(blob):
        done = subprocess.run(["curl", "-sS", "-i", "--fail", "--max-time", "30",
                               "-r", "0-1,5-6", stored.url + path],
                              capture_output=True, timeout=40, check=True)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 206 ")
        boundary = re.search(rb"boundary=(\S+)", head).group(1)
        content = b"Content-Type: application/octet-stream\r\nContent-Range: bytes "
        total = str(blob.size).encode()
        assert body == (b"--" + boundary + b"\r\n" + content + b"0-1/" + total + b"\r\n\r\n"
                        + blob.data[0:2] + b"\r\n--" + boundary + b"\r\n" + content + b"5-6/"
                        + total + b"\r\n\r\n" + blob.data[5:7] + b"\r\n--" + boundary + b"--\r\n")
