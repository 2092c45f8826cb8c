"""C20: single ranges (RFC 9110, section 14) on both ways to a blob, and curl's use of them. Several
ranges at once: test_multi_ranges.py."""

import hashlib
import subprocess

import pytest

from blob import EMPTY, MIB, Blob
from daemon import Daemon
from kraken_client import KrakenClient

BLOB = Blob.random(1000, "ranges")
BIG = Blob.random(9 * MIB + 7, "ranges")

pytestmark = pytest.mark.usefixtures("still_alive")


@pytest.fixture(scope="module")
def shared_daemon():
    with Daemon() as daemon, KrakenClient(daemon) as client:
        for blob in [BLOB, BIG, EMPTY]:
            assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
        yield daemon


@pytest.fixture
def stored(shared_client):
    return shared_client


def paths(blob: Blob) -> list[str]:
    return [f"/cas/{blob.hex}", f"/namespace/team%2Fapp/blobs/{blob.digest}"]


@pytest.mark.parametrize("spec, start, end", [
    ("0-0", 0, 1), ("0-999", 0, 1000), ("0-", 0, 1000), ("999-", 999, 1000), ("-1", 999, 1000),
    ("-1000", 0, 1000), ("-5000", 0, 1000), ("0-5000", 0, 1000), ("500-599", 500, 600),
    ("998-998", 998, 999), ("007-08", 7, 9),
])
def test_a_range_is_answered_exactly(stored, spec, start, end):
    for path in paths(BLOB):
        answer = stored.request("GET", path, headers={"Range": f"bytes={spec}"})
        assert (answer.status, answer.body) == (206, BLOB.data[start:end])
        assert answer.header("Content-Range") == f"bytes {start}-{end - 1}/1000"
        assert answer.header("Content-Length") == str(end - start)
        assert answer.header("ETag") == f'"sha256:{BLOB.hex}"'


@pytest.mark.parametrize("spec", ["1000-", "1000-1000", "5000-6000", "-0"])
def test_a_range_past_the_end_is_416(stored, spec):
    for path in paths(BLOB):
        answer = stored.request("GET", path, headers={"Range": f"bytes={spec}"})
        assert (answer.status, answer.is_empty()) == (416, True)
        assert answer.header("Content-Range") == "bytes */1000"


@pytest.mark.parametrize("spec", ["0-", "0-0", "-1", "-0"])
def test_any_range_of_the_empty_blob_is_416(stored, spec):
    for path in paths(EMPTY):
        answer = stored.request("GET", path, headers={"Range": f"bytes={spec}"})
        assert (answer.status, answer.is_empty()) == (416, True)
        assert answer.header("Content-Range") == "bytes */0"


@pytest.mark.parametrize("spec", ["0-0", "0-999", "-1", "-5000", "1000-", "-0", "5-3", "", "a-b",
                                  "0-18446744073709551616"])
def test_head_ignores_a_range(stored, spec):
    for path in paths(BLOB):
        answer = stored.request("HEAD", path, headers={"Range": f"bytes={spec}"})
        assert (answer.status, answer.header("Content-Length")) == (200, "1000")
        assert answer.header("Content-Range") is None


@pytest.mark.parametrize("spec", ["0-0", "0-", "-1", "1000-"])
def test_a_range_of_a_missing_blob_is_404(stored, spec):
    for path in paths(Blob(b"absent")):
        answer = stored.request("GET", path, headers={"Range": f"bytes={spec}"})
        assert (answer.status, answer.header("Content-Range")) == (404, None)


@pytest.mark.parametrize("value", ["bytes=5-3", "bytes=", "items=0-1", "bytes=a-b", "0-1",
                                   "bytes=-", "bytes=1", "bytes 0-1", "bytes=0x0-0x1",
                                   "bytes=--1", "bytes=+0-1"])
def test_a_malformed_range_is_ignored(stored, value):
    for path in paths(BLOB):
        answer = stored.request("GET", path, headers={"Range": value})
        assert (answer.status, answer.body) == (200, BLOB.data)


@pytest.mark.parametrize("spec, start", [("0-18446744073709551616", 0),
                                         ("0-9223372036854775808", 0),
                                         ("5-99999999999999999999999999999999", 5)])
def test_a_range_that_overflows_is_clipped_and_never_wraps(stored, spec, start):
    for path in paths(BLOB):
        answer = stored.request("GET", path, headers={"Range": f"bytes={spec}"})
        assert (answer.status, answer.body) == (206, BLOB.data[start:])
        assert answer.header("Content-Range") == f"bytes {start}-999/1000"


@pytest.mark.parametrize("spec", ["18446744073709551616-",
                                  "18446744073709551616-18446744073709551617",
                                  "9223372036854775808-", "1000-18446744073709551616"])
def test_a_range_that_begins_far_beyond_the_end_is_416_and_never_wraps(stored, spec):
    for path in paths(BLOB):
        answer = stored.request("GET", path, headers={"Range": f"bytes={spec}"})
        assert (answer.status, answer.header("Content-Range")) == (416, "bytes */1000")


@pytest.mark.parametrize("spec", ["-18446744073709551616", "-9223372036854775808"])
def test_a_suffix_that_overflows_is_the_whole_blob(stored, spec):
    for path in paths(BLOB):
        answer = stored.request("GET", path, headers={"Range": f"bytes={spec}"})
        assert (answer.status, answer.body) == (206, BLOB.data)
        assert answer.header("Content-Range") == "bytes 0-999/1000"


@pytest.mark.parametrize("start, end", [
    (0, 1), (1 * MIB - 1, 1 * MIB + 1), (4 * MIB - 1, 8 * MIB + 1), (1, BIG.size),
    (BIG.size - 16, BIG.size), (3 * MIB, 3 * MIB + 65537),
])
def test_ranges_of_a_blob_of_several_slices_are_exact(stored, start, end):
    for path in paths(BIG):
        answer = stored.request("GET", path, headers={"Range": f"bytes={start}-{end - 1}"})
        assert answer.status == 206
        assert answer.header("Content-Range") == f"bytes {start}-{end - 1}/{BIG.size}"
        assert answer.body == BIG.data[start:end]


def curl(*arguments: object, stdin: bytes = b"") -> bytes:
    done = subprocess.run(["curl", "-sS", "--fail-with-body", "--max-time", "30",
                           *map(str, arguments)], input=stdin, capture_output=True, timeout=40)
    assert done.returncode == 0, (done.returncode, done.stdout[:500], done.stderr.decode())
    return done.stdout


def test_a_curl_session_uploads_downloads_ranges_and_resumes(daemon, tmp_path):
    blob = Blob.random(7 * MIB + 3, "curl")
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(blob.data)
    url = f"{daemon.url}/cas/{blob.hex}"
    code = ["-o", "/dev/null", "-w", "%{http_code}"]
    assert curl(*code, "-T", source, url) == b"201"
    assert curl(*code, "-T", source, url) == b"200"
    assert hashlib.sha256(curl(url)).hexdigest() == blob.hex
    assert curl("-r", "0-9", url) == blob.data[:10]
    assert curl("-r", "-16", url) == blob.data[-16:]
    assert curl("-r", "1048576-", url) == blob.data[1048576:]
    target.write_bytes(blob.data[:3_000_000])
    curl("-C", "-", "-o", target, url)
    assert target.read_bytes() == blob.data
    assert b"content-length: 7340035" in curl("-I", url).lower()
    assert curl(*code, "-X", "DELETE", url) == b"204"
    assert curl(*code, "-T", "-", url, stdin=blob.data) == b"201"
    assert curl(url) == blob.data


def test_a_curl_post_is_told_the_digest(daemon, tmp_path):
    blob = Blob.random(2 * MIB, "curl post")
    (tmp_path / "source").write_bytes(blob.data)
    told = curl("--data-binary", f"@{tmp_path}/source", f"{daemon.url}/cas")
    assert blob.digest.encode() in told
    assert curl(f"{daemon.url}/cas/{blob.hex}") == blob.data
