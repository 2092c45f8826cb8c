"""The scrub finds rot that no reader's check can see (design, section 5)."""

import mmap
import os
import re
import time
from pathlib import Path

import pytest

import daemon as daemon_module
from blob import MIB, Blob
from daemon import Daemon
from kraken_client import KrakenClient

EVERY_SECOND = {"scrub.period": "1s"}


@pytest.fixture(autouse=True)
def on_tmpfs(monkeypatch):
    """See rot()."""
    monkeypatch.setattr(daemon_module, "FOLDERS", Path("/dev/shm"))


def file_of(daemon: Daemon, blob: Blob) -> Path:
    return daemon.data / "cache" / blob.hex[:2] / blob.hex[2:4] / blob.hex / "data"


def rot(path: Path, at: int) -> None:
    """Flips a bit and leaves inode, size and both times alone, as a bad disk does. A write through
    a mapping does so on tmpfs, which is not told of it."""
    before = os.stat(path)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[at] ^= 1
    after = os.stat(path)
    if (before.st_ino, before.st_size, before.st_mtime_ns, before.st_ctime_ns) != (
            after.st_ino, after.st_size, after.st_mtime_ns, after.st_ctime_ns):
        pytest.skip("this file system notices writes through a mapping")


def wait_for(daemon: Daemon, pattern: str, within: float = 15.0) -> re.Match:
    until = time.monotonic() + within
    while time.monotonic() < until:
        if found := re.search(pattern, daemon.log()):
            return found
        time.sleep(0.05)
    raise AssertionError(f"{pattern} is not in the log after {within} s")


def facts(client: KrakenClient) -> str:
    return client.request("GET", "/readiness?verbose").body.decode()


@pytest.mark.settings(EVERY_SECOND)
def test_rot_that_leaves_the_fingerprint_alone_is_found_and_a_push_repairs_it(daemon, client):
    good, bad = Blob.random(3 * MIB, "good"), Blob.random(2 * MIB, "bad")
    for blob in (good, bad):
        client.upload(blob)
    rot(file_of(daemon, bad), at=MIB + 5)

    wait_for(daemon, f"event=blob_quarantined digest={bad.digest}")
    wait_for(daemon, r"event=scrub_finished blobs=\d+ bytes=\d+ bad=1 skipped=0")

    client.assert_lacks(bad)
    client.assert_has(good)
    assert bad.hex not in client.request("GET", "/cas").body.decode()
    evidence = list(file_of(daemon, bad).parent.glob("data.quarantined-*"))
    assert len(evidence) == 1
    assert evidence[0].stat().st_size == bad.size
    assert "blobs quarantined since the start: 1" in facts(client)
    assert client.upload(bad) == 200
    client.assert_has(bad)
    assert evidence[0].exists()


@pytest.mark.settings(EVERY_SECOND)
def test_an_open_write_back_of_a_quarantined_blob_is_a_loud_loss(daemon, client):
    blob = Blob.random(1000, "owed")
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, blob.data).status == 200
    commit = client.request("PUT", f"/internal/duplicate{client.upload_path(blob.digest, uid)}",
                            body=b'{"Delay":600000000000}')
    assert commit.status == 200
    rot(file_of(daemon, blob), at=0)

    wait_for(daemon, f"level=error event=write_back_lost digest={blob.digest} namespace=team/app")
    client.assert_lacks(blob)


def test_a_pass_that_a_stop_cut_short_goes_on_after_a_restart():
    blobs = [Blob.random(3 * MIB, n) for n in range(4)]
    with Daemon({"scrub.period": "0s"}) as daemon, KrakenClient(daemon) as client:
        for blob in blobs:
            client.upload(blob)
        client.close()
        daemon.settings |= {"scrub.period": "1h", "scrub.bytes_per_second_max": "1MB"}
        # 12 MiB at 1 MiB a second: it is stopped in the middle of a blob.
        daemon.restart()
        wait_for(daemon, "event=scrub_started")
        begun = time.monotonic()
        assert daemon.stop() == 0
        assert time.monotonic() - begun < 3, "a scrub in the middle of a blob held up the stop"

        daemon.settings |= {"scrub.bytes_per_second_max": "1GB"}
        daemon.start()

        wait_for(daemon, "event=scrub_resumed")
        wait_for(daemon, "event=scrub_finished blobs=4 bytes=12582912 bad=0 skipped=0")
        with KrakenClient(daemon) as again:
            assert re.search(r"scrub: since \S+ 4 blobs of 12582912 bytes, 0 bad, 0 skipped; "
                             r"ended ", facts(again))


@pytest.mark.settings({"scrub.period": "0s"})
def test_a_period_of_0_means_that_there_is_no_scrub(daemon, client):
    client.upload(Blob.random(10))
    assert "scrub: off" in facts(client)
    assert "event=scrub_" not in daemon.log()
