"""C13: each path segment is decoded once, and then everybody sees the same name."""

import pytest

from alive import still_alive
from blob import Blob
from connection import Connection, request
from daemon import Daemon
from kraken_client import KrakenClient

BLOB = Blob.random(64, "percent")


@pytest.fixture(autouse=True)
def nothing_is_harmed(stored):
    with still_alive(stored):
        yield


def status_of(daemon: Daemon, path: str, method: str = "GET", **headers: str) -> int:
    with Connection(daemon.port) as connection:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.send(request(method, path, {"Connection": "close"} | fields))
        answer = connection.answer(method)
        assert answer.status != 200 or method != "GET" or answer.body == BLOB.data
        return answer.status


@pytest.mark.parametrize("digest", ["sha256:{}", "sha256%3A{}", "sha256%3a{}", "%73ha256:{}"])
@pytest.mark.parametrize("namespace, status", [
    ("team%2Fapp", 200), ("team%2fapp", 200), ("team%252Fapp", 200), ("a+b", 200),
    ("repo:tag", 200), ("t%65am", 200),
    ("team/app", 404), ("%zz", 400), ("a%", 400), ("a%2", 400), ("a%00b", 400),
    ("%c0%ae%c0%ae", 400), ("a%b", 400), ("%ed%a0%80", 400), ("", 400),
])
def test_a_segment_is_decoded_once(stored, namespace, status, digest):
    assert status_of(stored, f"/namespace/{namespace}/blobs/{digest.format(BLOB.hex)}") == status


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
def test_only_parameters_are_decoded(stored, path, status):
    assert status_of(stored, path) == status


@pytest.mark.parametrize("sent, name", [
    ("team%2Fapp", b"team/app"), ("team%2fapp", b"team/app"), ("te%61m%2Fapp", b"team/app"),
    ("team%252Fapp", b"team%2Fapp"), ("team%252fapp", b"team%2fapp"), ("team+app", b"team+app"),
    ("team%20app", b"team app"), ("%E2%82%AC", "€".encode()),
])
def test_the_namespace_is_stored_decoded_once(sent, name):
    """The task of a duplicate commit is the record in which the database has a namespace."""
    blob = Blob.random(100, sent)
    with Daemon() as daemon, still_alive(daemon), KrakenClient(daemon, namespace=sent) as client:
        uid = client.begin(blob.digest)
        assert client.patch(blob.digest, uid, 0, blob.data).status == 200
        path = f"/internal/duplicate{client.upload_path(blob.digest, uid)}"
        assert client.request("PUT", path, b'{"Delay":0}').status == 200
        recorded = b"".join(path.read_bytes() for path in (daemon.data / "db").glob("*.log"))
    assert bytes.fromhex(blob.hex) + name in recorded
    assert b"team%252" not in recorded
    if name != sent.encode():
        assert sent.encode() not in recorded


@pytest.mark.parametrize("path", ["/internal/blobs/sha256%3A{}", "/internal/blobs/%73ha256:{}",
                                  "/internal/blobs/%73%68%61256%3a{}"])
def test_an_encoded_name_passes_no_permission_check_and_finds_the_same_blob(stored, path):
    blob = Blob.random(100, path)
    with KrakenClient(stored) as client:
        assert client.upload(blob) == 200
        encoded = path.format(blob.hex)
        overwrite = f"{encoded}/metainfo?piece_length=10"
        assert status_of(stored, overwrite, "POST", Forwarded="for=192.0.2.1") == 403
        assert status_of(stored, encoded, "DELETE", X_Forwarded_For="192.0.2.1") == 403
        client.assert_has(blob)
        assert status_of(stored, encoded, "DELETE") == 202
        client.assert_lacks(blob)


@pytest.mark.parametrize("path", ["/%69nternal/blobs/{digest}", "/internal%2Fblobs%2F{digest}",
                                  "/internal/%62lobs/{digest}", "/internal/blobs%2F{digest}",
                                  "/%63as/{hex}", "/cas%2F{hex}"])
def test_an_encoded_route_is_no_route_and_so_no_way_around_the_check(stored, path):
    target = path.format(digest=BLOB.digest, hex=BLOB.hex)
    assert status_of(stored, target, "DELETE") == 404
    assert status_of(stored, target) == 404
    with KrakenClient(stored) as client:
        client.assert_has(BLOB)
