"""C22: conditional requests (RFC 9110, section 13), and the order of the conditions."""

import subprocess

import pytest

from blob import EMPTY, MIB, Blob
from connection import Answer, Connection, request
from daemon import Daemon
from kraken_client import KrakenClient

BLOB = Blob.random(1000, "conditions")
LARGE = Blob.random(2 * MIB, "conditions")
ABSENT = Blob(b"absent")
LONG_AGO, FAR_AHEAD = "Thu, 01 Jan 1970 00:00:01 GMT", "Fri, 31 Dec 2100 23:59:59 GMT"


def etag(blob: Blob) -> str:
    return f'"{blob.digest}"'


pytestmark = pytest.mark.usefixtures("still_alive")


@pytest.fixture(scope="module")
def shared_daemon():
    with Daemon() as daemon, KrakenClient(daemon) as client:
        for blob in [BLOB, LARGE, EMPTY]:
            assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
        yield daemon


@pytest.fixture
def stored(shared_daemon):
    return shared_daemon


def paths(blob: Blob) -> list[str]:
    return [f"/cas/{blob.hex}", f"/namespace/team%2Fapp/blobs/{blob.digest}"]


def ask(daemon: Daemon, path: str, fields: list[tuple[str, str]], method: str = "GET") -> Answer:
    """The answer, after which the same connection must still be in step."""
    head = request(method, path).removesuffix(b"\r\n")
    head += b"".join(f"{name}: {value}\r\n".encode("latin-1") for name, value in fields) + b"\r\n"
    with Connection(daemon.port) as connection:
        connection.send(head + request("GET", "/health", {"Connection": "close"}))
        answer, health = connection.answer(method), connection.answer()
        assert (health.status, health.body) == (200, b"OK\n")
        assert connection.is_closed()
        return answer


def assert_not_modified(answer: Answer, blob: Blob) -> None:
    assert (answer.status, answer.body) == (304, b"")
    assert answer.header("ETag") == etag(blob)
    assert answer.header("Date")
    # Of any length but the blob's a cache would believe that the blob had changed.
    assert answer.header("Content-Length") in (None, str(blob.size))


def assert_failed(answer: Answer, blob: Blob, method: str = "GET") -> None:
    assert answer.status == 412
    assert answer.header("ETag") == etag(blob)
    assert answer.is_empty()


def test_the_etag_of_an_answer_gets_a_304(stored):
    for blob in [BLOB, LARGE, EMPTY]:
        for path in paths(blob):
            given = ask(stored, path, []).header("ETag")
            assert given == etag(blob)
            assert_not_modified(ask(stored, path, [("If-None-Match", given)]), blob)


@pytest.mark.parametrize("value", [
    "{e}", "W/{e}", "*", ' "x", {e}', '"x",,{e},', 'W/"x", W/{e}', '"a,b", {e}',
])
def test_a_match_is_304(stored, value):
    for path in paths(BLOB):
        for method in ["GET", "HEAD"]:
            answer = ask(stored, path, [("If-None-Match", value.format(e=etag(BLOB)))], method)
            assert_not_modified(answer, BLOB)


@pytest.mark.parametrize("value", [
    '"x"', 'W/"x"', BLOB.digest, BLOB.hex, f'"{BLOB.hex}"', f'"{BLOB.digest.upper()}"', "", ",",
    f'"{BLOB.digest}', f"{etag(BLOB)}, *", f"{etag(BLOB)} {etag(BLOB)}", f"w/{etag(BLOB)}",
    f'"\xff", {etag(BLOB)} x', '"x", ' * 5000,
])
def test_no_match_and_what_is_malformed_is_200(stored, value):
    for path in paths(BLOB):
        answer = ask(stored, path, [("If-None-Match", value)])
        assert (answer.status, answer.body) == (200, BLOB.data)


@pytest.mark.parametrize("value, met", [
    ("{e}", True), ("*", True), ('"x", {e}', True), ('W/"x",{e}', True),
    ('"x"', False), ("W/{e}", False), ("{d}", False), ("", False), ("{e}, *", False),
    ("{e", False),
])
def test_if_match_needs_the_strong_tag(stored, value, met):
    value = value.replace("{e}", etag(BLOB)).replace("{d}", BLOB.digest)
    for path in paths(BLOB):
        for method in ["GET", "HEAD"]:
            answer = ask(stored, path, [("If-Match", value)], method)
            if not met:
                assert_failed(answer, BLOB, method)
                continue
            assert (answer.status, answer.header("Content-Length")) == (200, "1000")
            assert answer.body == (BLOB.data if method == "GET" else b"")


def test_two_fields_of_one_name_are_one_list(stored):
    path, e = paths(BLOB)[0], etag(BLOB)
    both = [("If-None-Match", '"x"'), ("If-None-Match", e)]
    assert_not_modified(ask(stored, path, both), BLOB)
    assert ask(stored, path, [("If-Match", '"x"'), ("if-match", e)]).status == 200
    assert_failed(ask(stored, path, [("If-Match", "*"), ("If-Match", e)]), BLOB)


@pytest.mark.parametrize("fields, status, body", [
    # If-Match before If-None-Match before the range (section 13.2.2).
    ([("If-None-Match", "{e}"), ("If-Match", '"x"')], 412, b""),
    ([("If-None-Match", "{e}"), ("If-Match", "{e}")], 304, b""),
    ([("If-None-Match", "{e}"), ("Range", "bytes=0-9")], 304, b""),
    ([("If-None-Match", "{e}"), ("Range", "bytes=1000-")], 304, b""),
    ([("If-None-Match", "{e}"), ("If-Range", '"x"'), ("Range", "bytes=0-9")], 304, b""),
    ([("If-None-Match", '"x"'), ("Range", "bytes=0-9")], 206, BLOB.data[:10]),
    ([("If-Match", '"x"'), ("Range", "bytes=1000-")], 412, b""),
    ([("If-Match", "{e}"), ("Range", "bytes=0-9")], 206, BLOB.data[:10]),
    ([("If-Match", "{e}"), ("Range", "bytes=1000-")], 416, b""),
    # If-Range: our strong tag, or the whole blob.
    ([("If-Range", "{e}"), ("Range", "bytes=0-9")], 206, BLOB.data[:10]),
    ([("If-Range", "{e}"), ("Range", "bytes=1000-")], 416, b""),
    ([("If-Range", "{e}"), ("Range", "bytes=5-3")], 200, BLOB.data),
    ([("If-Range", '"x"'), ("Range", "bytes=0-9")], 200, BLOB.data),
    ([("If-Range", '"x"'), ("Range", "bytes=0-9,20-29")], 200, BLOB.data),
    ([("If-Range", '"x"'), ("Range", "bytes=1000-")], 200, BLOB.data),
    ([("If-Range", "W/{e}"), ("Range", "bytes=0-9")], 200, BLOB.data),
    ([("If-Range", "*"), ("Range", "bytes=0-9")], 200, BLOB.data),
    ([("If-Range", "{d}"), ("Range", "bytes=0-9")], 200, BLOB.data),
    ([("If-Range", "{e}, {e}"), ("Range", "bytes=0-9")], 200, BLOB.data),
    ([("If-Range", LONG_AGO), ("Range", "bytes=0-9")], 200, BLOB.data),
    ([("If-Range", FAR_AHEAD), ("Range", "bytes=0-9")], 200, BLOB.data),
    ([("If-Range", "{e}")], 200, BLOB.data),
    # Dates: there is nothing to compare them with.
    ([("If-Modified-Since", FAR_AHEAD)], 200, BLOB.data),
    ([("If-Unmodified-Since", LONG_AGO)], 200, BLOB.data),
    ([("If-Modified-Since", LONG_AGO), ("If-None-Match", "{e}")], 304, b""),
])
def test_conditions_are_looked_at_in_their_order(stored, fields, status, body):
    filled = [(name, value.replace("{e}", etag(BLOB)).replace("{d}", BLOB.digest))
              for name, value in fields]
    for path in paths(BLOB):
        answer = ask(stored, path, filled)
        assert (answer.status, answer.body) == (status, body)
        assert answer.header("Last-Modified") is None
        if status != 416:
            assert answer.header("ETag") == etag(BLOB)


def test_if_range_with_several_ranges_gets_parts(stored):
    for path in paths(LARGE):
        answer = ask(stored, path, [("If-Range", etag(LARGE)), ("Range", "bytes=0-9,20-29")])
        assert answer.status == 206
        assert answer.header("Content-Type").startswith("multipart/byteranges")


def test_two_ranges_in_two_fields_are_the_whole_blob(stored):
    for path in paths(BLOB):
        answer = ask(stored, path, [("Range", "bytes=0-9"), ("Range", "bytes=20-29")])
        assert (answer.status, answer.body) == (200, BLOB.data)


@pytest.mark.parametrize("field", [("If-None-Match", "*"), ("If-None-Match", etag(ABSENT)),
                                   ("If-Match", etag(ABSENT)), ("If-Match", "*")])
def test_an_absent_blob_is_404_whatever_the_condition(stored, field):
    for path in paths(ABSENT):
        for method in ["GET", "HEAD"]:
            assert ask(stored, path, [field], method).status == 404


def test_a_condition_changes_nothing_for_a_put(stored):
    """What a PUT stores is in its path: no other bytes could be replaced or lost."""
    blob = Blob.random(100, "conditional put")
    with KrakenClient(stored) as client:
        for status in [201, 200]:
            answer = client.request("PUT", f"/cas/{blob.hex}", blob.data,
                                    headers={"If-None-Match": "*"})
            assert answer.status == status


def test_a_gathered_answer_of_304s_stays_in_step(stored):
    path = paths(LARGE)[0]
    one = request("GET", path, {"If-None-Match": etag(LARGE)})
    with Connection(stored.port) as connection:
        connection.send(one * 10 + request("GET", path) + one)
        for _ in range(10):
            assert_not_modified(connection.answer(), LARGE)
        assert connection.answer().body == LARGE.data
        assert_not_modified(connection.answer(), LARGE)


def test_curl_keeps_what_it_has(stored, tmp_path):
    tag, target = tmp_path / "etag", tmp_path / "blob"
    command = ["curl", "-sS", "--fail", "--max-time", "30", "--etag-save", str(tag),
               "--etag-compare", str(tag), "-o", str(target), "-w", "%{http_code}",
               stored.url + paths(BLOB)[0]]
    run = lambda: subprocess.run(command, capture_output=True, timeout=40, check=True).stdout
    assert run() == b"200"
    assert target.read_bytes() == BLOB.data
    assert run() == b"304"
