"""C19: HEAD tells the whole truth and nothing else. The header is that of GET, no byte of a body
follows, and the connection stays in step."""

import pytest

from blob import EMPTY, MIB, Blob
from connection import Answer, Connection, request
from daemon import Daemon
from kraken_client import KrakenClient
from smuggled import HEALTH_AND_CLOSE

pytestmark = pytest.mark.usefixtures("still_alive")

BLOBS = [EMPTY, Blob(b"1"), Blob.random(10 * MIB, "c19")]
ABSENT = Blob(b"absent")
sizes = pytest.mark.parametrize("blob", BLOBS, ids=["0", "1", "10 MiB"])


@pytest.fixture(scope="module")
def shared_daemon():
    with Daemon() as daemon, KrakenClient(daemon) as client:
        for blob in BLOBS:
            assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
        yield daemon


def paths(blob: Blob) -> list[str]:
    return [f"/cas/{blob.hex}", f"/namespace/team%2Fapp/blobs/{blob.digest}"]


def stat_paths(blob: Blob) -> list[str]:
    """Kraken's stat, which has no GET. `local` says whether to ask a backend: there is none."""
    path = f"/internal/namespace/team%2Fapp/blobs/{blob.digest}"
    return [path, f"{path}?local=true", f"{path}?local=false"]


def ask(daemon: Daemon, method: str, path: str, fields: dict | None = None) -> Answer:
    """The answer, behind which the bytes of the next one begin at once."""
    with Connection(daemon.port) as connection:
        connection.send(request(method, path, fields) + HEALTH_AND_CLOSE)
        answer, health = connection.answer(method), connection.answer()
        assert (health.status, health.body) == (200, b"OK\n")
        assert connection.is_closed()
        return answer


def head_of(answer: Answer) -> tuple[int, list[tuple[str, str]]]:
    return answer.status, [field for field in answer.headers.items() if field[0] != "Date"]


@sizes
@pytest.mark.parametrize("fields", [
    {}, {"Range": "bytes=0-0"}, {"Range": "bytes=99999999-"}, {"Range": "bytes=0-0,2-3"},
    {"If-None-Match": '"x"'}, {"Connection": "keep-alive"},
], ids=["plain", "range", "range past the end", "ranges", "condition", "keep-alive"])
def test_head_has_the_header_of_get_and_no_body(shared_daemon, blob, fields):
    for path in paths(blob):
        whole = {name: value for name, value in fields.items() if name != "Range"}
        got, head = ask(shared_daemon, "GET", path, whole), ask(shared_daemon, "HEAD", path, fields)
        assert got.body == blob.data
        assert head_of(head) == head_of(got)
        assert head.status == 200
        assert head.header("Content-Length") == str(blob.size)
        assert head.header("Content-Type") == "application/octet-stream"
        assert head.header("ETag") == f'"{blob.digest}"'
        assert head.header("Accept-Ranges") == "bytes"


@sizes
def test_stat_has_the_exact_length_and_no_body(shared_daemon, blob):
    for path in stat_paths(blob):
        answer = ask(shared_daemon, "HEAD", path)
        assert (answer.status, answer.header("Content-Length")) == (200, str(blob.size))


@pytest.mark.parametrize("path", [*paths(ABSENT), *stat_paths(ABSENT)])
def test_head_of_what_is_missing_is_404_without_a_body(shared_daemon, path):
    assert ask(shared_daemon, "HEAD", path).status == 404


@pytest.mark.parametrize("path", [
    *paths(ABSENT), "/health", "/readiness", "/cas", "/nothing", "/cas/abc", "/cas/%zz",
    f"/internal/namespace/n/blobs/{BLOBS[2].digest}/metainfo", "/internal/peercontext",
    f"/blobs/{BLOBS[1].digest}/locations", "/namespace/n/blobs/sha256:abc",
])
def test_head_has_the_header_of_get_wherever_get_is(shared_daemon, path):
    got, head = ask(shared_daemon, "GET", path), ask(shared_daemon, "HEAD", path)
    if got.header("Content-Type") == "application/json" and got.status == 404:
        # The body names the request, so its length may differ by a digit.
        assert abs(int(got.header("Content-Length")) - int(head.header("Content-Length"))) <= 2
        return
    assert head_of(head) == head_of(got)
    assert head.header("Content-Length") == str(len(got.body))


def test_many_heads_and_gets_stay_in_step_on_one_connection(shared_daemon):
    methods = ["HEAD", "GET", "HEAD", "HEAD", "GET"]
    with Connection(shared_daemon.port) as connection:
        for blob in [*BLOBS, ABSENT] * 3:
            for path in paths(blob):
                connection.send(b"".join(request(method, path) for method in methods))
                for method in methods:
                    answer = connection.answer(method)
                    assert answer.status == (404 if blob is ABSENT else 200)
                    assert method == "HEAD" or blob is ABSENT or answer.body == blob.data
        connection.send(HEALTH_AND_CLOSE)
        assert connection.answer().body == b"OK\n"


def test_http_1_0_gets_the_header_alone(shared_daemon):
    for path in paths(BLOBS[2]):
        with Connection(shared_daemon.port) as connection:
            connection.send(request("HEAD", path, version="HTTP/1.0"))
            answer = connection.answer("HEAD")
            assert (answer.status, answer.header("Content-Length")) == (200, str(10 * MIB))
            assert connection.is_closed()
