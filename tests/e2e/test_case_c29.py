"""Case C29: restart with half-written uploads and foreign files. The data folder holds whatever a
crash, a file manager and a prankster leave; the daemon starts in normal time, serves what is right,
touches nothing that is not its own, and says once what it met."""

import os
import random
import re
import time
from pathlib import Path

import pytest

from blob import EMPTY, KIB, Blob
from daemon import Daemon, DaemonDied
from kraken_client import KrakenClient
from kraken_folder import blob_folder, put_blob

READY_SECONDS_MAX = 5.0
FAST = {"store.index_cpu_percent": "100"}


def await_indexed(daemon: Daemon, within: float = 30.0) -> str:
    """The indexer's line of /readiness?verbose once it is over."""
    until = time.monotonic() + within
    with KrakenClient(daemon) as client:
        while True:
            facts = client.request("GET", "/readiness?verbose").body.decode()
            line = re.search(r"^indexing: .*$", facts, re.M).group()
            if line.startswith("indexing: over"):
                return line
            assert time.monotonic() < until, line
            time.sleep(0.05)


def foreign_lines(daemon: Daemon) -> list[str]:
    return re.findall(r"event=foreign_entry_in_cache_dir .*", daemon.log())


def put_foreign(cache: Path) -> dict[str, Path]:
    """Everything of the case that is no blob. None of it may be touched or waited for."""
    blobs = {name: blob_folder(cache, Blob(name.encode()).hex)
             for name in ["link", "fifo", "directory"]}
    for folder in blobs.values():
        folder.mkdir(parents=True)
    (blobs["link"] / "data").symlink_to("/etc/passwd")
    os.mkfifo(blobs["fifo"] / "data")
    (blobs["directory"] / "data").mkdir()
    (cache / "lost+found").mkdir()
    (cache / "lost+found" / "#12345").write_bytes(b"bytes without a name")
    (cache / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    (cache / "00" / "00").mkdir(parents=True)
    # 300 characters are more than a name can have; 255 are the most.
    long = cache / "00" / "00" / ("n" * 255)
    long.write_bytes(b"long")
    forged = cache / "00" / "x\nlevel=error event=forged\x1b[2J"
    forged.write_bytes(b"forged")
    return {name: folder / "data" for name, folder in blobs.items()} | {
        "lost+found": cache / "lost+found" / "#12345", ".DS_Store": cache / ".DS_Store",
        "long": long, "forged": forged}


def start_on(daemon: Daemon) -> None:
    assert daemon.start() < READY_SECONDS_MAX


@pytest.fixture
def stopped():
    """A daemon that was never started, on a folder that a test fills first."""
    daemon = Daemon(FAST)
    daemon.data.mkdir()
    try:
        yield daemon
        assert daemon.stop() == 0
        assert "orlop: check failed" not in daemon.log()
    finally:
        print(daemon.log_tail())
        daemon._remove()


def test_foreign_entries_are_named_once_counted_and_left_alone(stopped):
    cache = stopped.data / "cache"
    good = [Blob.random(10 * KIB, n) for n in range(20)]
    for blob in good:
        put_blob(cache, blob)
    foreign = put_foreign(cache)

    start_on(stopped)
    line = await_indexed(stopped)

    assert "hashed 20" in line
    assert f"foreign {len(foreign)}" in line
    with KrakenClient(stopped) as client:
        for blob in good:
            client.assert_has(blob)
        for name in ["link", "fifo", "directory"]:
            client.assert_lacks(Blob(name.encode()))
    named = foreign_lines(stopped)
    assert len(named) == len(foreign)
    assert "\nlevel=error event=forged" not in stopped.log()
    assert all(os.path.lexists(path) for path in foreign.values())
    assert os.readlink(foreign["link"]) == "/etc/passwd"

    stopped.restart()
    await_indexed(stopped)
    assert foreign_lines(stopped) == named, "they are named once, not once a start"


def test_files_that_are_not_what_their_name_says_are_set_aside(stopped):
    cache = stopped.data / "cache"
    promised = [Blob(b"promised bytes"), Blob(b"other bytes"), Blob(b"more bytes")]
    for blob, content in zip(promised, [b"", b"other Bytes", b"more"]):
        (put_blob(cache, blob) / "data").write_bytes(content)
    put_blob(cache, EMPTY)

    start_on(stopped)
    line = await_indexed(stopped)

    assert "quarantined 3" in line
    with KrakenClient(stopped) as client:
        client.assert_has(EMPTY)
        for blob in promised:
            client.assert_lacks(blob)
            assert client.upload(blob) == 200
            client.assert_has(blob)


def test_ghosts_are_counted_and_absent(stopped):
    cache = stopped.data / "cache"
    ghosts = [Blob.random(64, n) for n in range(5)]
    for blob in ghosts:
        (put_blob(cache, blob, last_access=1_700_000_000) / "data").unlink()

    start_on(stopped)

    assert "ghosts 5" in await_indexed(stopped)
    with KrakenClient(stopped) as client:
        for blob in ghosts:
            client.assert_lacks(blob)
        assert client.upload(ghosts[0]) == 200
        client.assert_has(ghosts[0])


def test_a_killed_walk_goes_on_and_counts_each_blob(stopped):
    stopped.settings["store.index_cpu_percent"] = "5"
    cache = stopped.data / "cache"
    blobs = [Blob.random(KIB, n) for n in range(600)]
    for blob in blobs:
        put_blob(cache, blob)

    start_on(stopped)
    for _ in range(3):
        time.sleep(0.3)
        stopped.restart(kill9=True)
    await_indexed(stopped, within=60.0)

    with KrakenClient(stopped) as client:
        digests = set()
        page = client.request("GET", "/cas?limit=1000").body.decode()
        digests.update(re.findall(r"[0-9a-f]{64}", page))
    assert {blob.hex for blob in blobs} <= digests


@pytest.mark.parametrize("kill9", [True, False], ids=["kill9", "sigterm"])
def test_ten_sessions_at_random_progress_go_on_and_stale_ones_go(stopped, kill9):
    chance = random.Random(29)
    stopped.settings["castore.upload_cleanup.tti"] = "15s"
    start_on(stopped)
    uploads = []
    with KrakenClient(stopped) as client:
        for n in range(10):
            blob = Blob.random(200 * KIB, f"c29-{n}")
            uid = client.begin(blob.digest)
            sent = chance.randrange(0, blob.size)
            if sent:
                assert client.patch(blob.digest, uid, 0, blob.data[:sent]).status == 200
            uploads.append((blob, uid, sent))
    stray = stopped.data / "upload" / "leftover-of-something-else"
    stray.write_bytes(b"x")

    stopped.restart(kill9=kill9)

    with KrakenClient(stopped) as client:
        for blob, uid, sent in uploads[:5]:
            assert client.progress(blob.digest, uid) == sent
            assert client.patch(blob.digest, uid, sent, blob.data[sent:]).status == 200
            assert client.commit(blob.digest, uid).status == 200
            client.assert_has(blob)
        until = time.monotonic() + 60
        while stopped.upload_files() != [stray.name]:
            assert time.monotonic() < until, stopped.upload_files()
            time.sleep(0.2)
        for blob, uid, _ in uploads[5:]:
            assert client.progress(blob.digest, uid) is None
            assert client.patch(blob.digest, uid, 0, blob.data).status == 404
            assert client.upload(blob) == 200  # From zero.
            client.assert_has(blob)


def test_strange_times_evict_nothing(stopped):
    cache = stopped.data / "cache"
    times = [0, 1, 4_102_444_800, 2**31 + 10, time.time() + 86400]
    blobs = [Blob.random(KIB, f"time-{n}") for n in range(len(times))]
    for blob, stamp in zip(blobs, times):
        put_blob(cache, blob, last_access=int(stamp), mtime=stamp)
    stopped.settings |= {"castore.cache_cleanup.interval": "1s", "castore.cache_cleanup.tti": "1h"}

    start_on(stopped)
    await_indexed(stopped)
    time.sleep(2.5)

    with KrakenClient(stopped) as client:
        for blob in blobs:
            client.assert_has(blob)


def put_and_stop(daemon: Daemon, count: int) -> list[Blob]:
    blobs = [Blob.random(4 * KIB, f"db-{n}") for n in range(count)]
    start_on(daemon)
    with KrakenClient(daemon) as client:
        for blob in blobs:
            assert client.upload(blob) == 200
    daemon.kill9()
    return blobs


def test_a_push_cannot_replace_a_folder_that_somebody_made_of_the_blob(daemon, client):
    blob = Blob.random(5000, "a folder is in the way")
    in_the_way = blob_folder(daemon.data / "cache", blob.hex) / "data"
    in_the_way.mkdir(parents=True)
    (in_the_way / "kept").write_bytes(b"kept")

    for _ in range(2):
        answer = client.request("PUT", f"/cas/{blob.hex}", blob.data)
        assert answer.status == 500
        assert "Is a directory" in answer.body.decode()
        client.assert_lacks(blob)
    assert (in_the_way / "kept").read_bytes() == b"kept"
    assert daemon.upload_files_after_settling() == []

    (in_the_way / "kept").unlink()
    in_the_way.rmdir()
    assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
    client.assert_has(blob)


def test_a_database_log_that_was_cut_costs_no_blob(stopped):
    blobs = put_and_stop(stopped, 20)
    log = max((stopped.data / "db").glob("*.log"), key=lambda path: path.stat().st_size)
    os.truncate(log, log.stat().st_size * 2 // 3)

    start_on(stopped)

    with KrakenClient(stopped) as client:
        for blob in blobs:
            client.assert_has(blob)


def test_a_damaged_database_is_refused_and_adoption_brings_the_blobs_back(stopped):
    blobs = put_and_stop(stopped, 20)
    database = stopped.data / "db"
    manifest = next(database.glob("MANIFEST-*"))
    os.truncate(manifest, 10)

    with pytest.raises(DaemonDied, match="exit code 1"):
        stopped.start()
    assert "move this folder away and start again" in stopped.log()

    database.rename(stopped.data / "db.damaged")
    start_on(stopped)
    assert "hashed 20" in await_indexed(stopped)
    with KrakenClient(stopped) as client:
        for blob in blobs:
            client.assert_has(blob)
