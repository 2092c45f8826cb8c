"""Each path segment is decoded once, and then everybody sees the same name (cases.md, C13)."""

import pytest

from blob import Blob
from connection import Connection, request
from daemon import Daemon
from kraken_client import KrakenClient

BLOB = Blob.random(64, "percent")


@pytest.fixture(scope="module")
def port():
    with Daemon() as daemon, KrakenClient(daemon) as client:
        assert client.upload(BLOB) == 200
        yield daemon.port


def status_of(port: int, path: str) -> int:
    with Connection(port) as connection:
        connection.send(request("GET", path, {"Connection": "close"}))
        answer = connection.answer()
        assert answer.status != 200 or answer.body == BLOB.data
        return answer.status


@pytest.mark.parametrize("digest", ["sha256:{}", "sha256%3A{}", "sha256%3a{}", "%73ha256:{}"])
@pytest.mark.parametrize("namespace, status", [
    ("team%2Fapp", 200), ("team%2fapp", 200), ("team%252Fapp", 200), ("a+b", 200),
    ("repo:tag", 200), ("t%65am", 200),
    ("team/app", 404), ("%zz", 400), ("a%", 400), ("a%2", 400), ("a%00b", 400),
    ("%c0%ae%c0%ae", 400), ("a%b", 400), ("%ed%a0%80", 400), ("", 400),
])
def test_a_segment_is_decoded_once(port, namespace, status, digest):
    assert status_of(port, f"/namespace/{namespace}/blobs/{digest.format(BLOB.hex)}") == status


@pytest.mark.parametrize("path, status", [
    (f"/cas/{BLOB.hex}", 200),
    (f"/cas/%{ord(BLOB.hex[0]):02x}{BLOB.hex[1:]}", 200),
    (f"/cas/{BLOB.hex}%", 400), (f"/cas/{BLOB.hex}%00", 400), (f"/cas/{BLOB.hex}%2f", 400),
    (f"/cas/{BLOB.hex}?x=%zz", 200), (f"/cas/{BLOB.hex}?", 200), (f"/cas/{BLOB.hex}/", 404),
    (f"/cas//{BLOB.hex}", 404), (f"//cas/{BLOB.hex}", 404),
    (f"/namespace/n/blobs/sha256%253A{BLOB.hex}", 400),
    (f"/namespace/n/blobs/sha256:{BLOB.hex}/", 404),
    (f"/%6eamespace/n/blobs/sha256:{BLOB.hex}", 404),
])
def test_only_parameters_are_decoded(port, path, status):
    assert status_of(port, path) == status
