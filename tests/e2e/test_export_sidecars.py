"""`orlop export-sidecars`: the way home to Kraken, and to an Orlop without its database."""

import shutil
import subprocess
import time

import pytest

from blob import EMPTY, KIB, MIB, Blob
from daemon import BINARY, Daemon
from kraken_client import KrakenClient
from kraken_folder import blob_folder, last_access_bytes

SIDECARS = {"data", "_torrentmeta", "_last_access_time"}


def export(daemon: Daemon, *flags: str) -> subprocess.CompletedProcess:
    return subprocess.run([BINARY, "export-sidecars", "--data", str(daemon.data), *flags],
                          capture_output=True, text=True, timeout=60, cwd=daemon.folder)


def upload_all(daemon: Daemon, blobs: list[Blob]) -> None:
    with KrakenClient(daemon) as client:
        for blob in blobs:
            assert client.upload(blob) == 200


@pytest.fixture
def blobs() -> list[Blob]:
    return [EMPTY] + [Blob.random(size, "export") for size in (1, KIB, 70 * KIB, 5 * MIB)]


def test_it_refuses_while_a_daemon_runs(daemon, blobs):
    upload_all(daemon, blobs)

    refused = export(daemon)

    assert refused.returncode == 1
    assert "is in use by another process" in refused.stderr
    folder = blob_folder(daemon.data / "cache", blobs[1].hex)
    assert {path.name for path in folder.iterdir()} == {"data"}


def test_it_refuses_where_no_database_is(daemon):
    daemon.stop()
    shutil.rmtree(daemon.data / "db")

    refused = export(daemon)

    assert refused.returncode == 1
    assert "there is no database in" in refused.stderr
    assert not (daemon.data / "db").exists()
    daemon.start()


def test_it_refuses_with_pending_write_backs_and_says_how_many(daemon, blobs):
    upload_all(daemon, blobs)
    with KrakenClient(daemon) as client:
        for blob in [Blob.random(KIB, "owed"), Blob.random(2 * KIB, "owed")]:
            uid = client.begin(blob.digest)
            assert client.patch(blob.digest, uid, 0, blob.data).status == 200
            commit = f"/internal/duplicate{client.upload_path(blob.digest, uid)}"
            assert client.request("PUT", commit, b'{"Delay":0}').status == 200
    daemon.stop()

    refused = export(daemon)

    assert refused.returncode == 1
    assert "2 write-backs are pending" in refused.stderr
    folder = blob_folder(daemon.data / "cache", blobs[1].hex)
    assert {path.name for path in folder.iterdir()} == {"data"}
    daemon.start()


def test_without_its_database_a_node_serves_and_describes_each_blob_as_before(daemon, blobs):
    upload_all(daemon, blobs)
    recut = blobs[-1]
    with KrakenClient(daemon) as client:
        path = f"/internal/blobs/{recut.digest}/metainfo?piece_length={MIB}"
        assert client.request("POST", path).status == 200
    before = time.time()
    assert daemon.stop() == 0

    done = export(daemon)

    assert done.returncode == 0, done.stderr
    assert "exported the sidecars of 5 blobs, 0 of them pinned; 0 are without metainfo" \
        in done.stdout
    for blob in blobs:
        folder = blob_folder(daemon.data / "cache", blob.hex)
        assert {path.name for path in folder.iterdir()} == SIDECARS
        piece_length = MIB if blob is recut else 4 * MIB
        assert (folder / "_torrentmeta").read_bytes() == blob.metainfo(piece_length)
        hours = [last_access_bytes(int(before) // 3600 * 3600 + slip) for slip in (0, -3600)]
        assert (folder / "_last_access_time").read_bytes() in hours

    shutil.rmtree(daemon.data / "db")
    daemon.start()
    with KrakenClient(daemon) as client:
        for blob in blobs[:-1]:
            client.assert_has(blob)
        assert client.get(recut.digest).body == recut.data
        assert client.metainfo(recut.digest).body == recut.metainfo(MIB)


def test_it_may_be_repeated_and_replaces_what_is_stale(daemon, blobs):
    upload_all(daemon, blobs)
    daemon.stop()
    folder = blob_folder(daemon.data / "cache", blobs[2].hex)
    (folder / "_torrentmeta").write_bytes(b"{")
    (folder / "_persist").write_bytes(b"true")
    (folder / ".orlop-export").write_bytes(b"of one that died")

    assert export(daemon).returncode == 0
    assert export(daemon).returncode == 0

    assert {path.name for path in folder.iterdir()} == SIDECARS
    assert (folder / "_torrentmeta").read_bytes() == blobs[2].metainfo()
    daemon.start()


def test_a_record_without_its_file_is_passed_over_and_said(daemon, blobs):
    upload_all(daemon, blobs)
    daemon.stop()
    (blob_folder(daemon.data / "cache", blobs[3].hex) / "data").unlink()

    done = export(daemon)

    assert done.returncode == 0
    assert "exported the sidecars of 4 blobs" in done.stdout
    assert "passed over 1 records" in done.stdout
    daemon.start()
