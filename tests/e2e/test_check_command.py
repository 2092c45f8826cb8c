"""`orlop check`: what an operator learns of a data folder while no daemon runs."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from blob import MIB, Blob
from daemon import BINARY, Daemon
from kraken_client import KrakenClient

CLEAN, FINDINGS, CANNOT_RUN = 0, 1, 2


def check(data: Path, *flags: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(BINARY), "check", "--data", str(data), *flags], text=True,
                          capture_output=True, timeout=40, check=False)


def found(data: Path) -> tuple[int, dict, list]:
    """Exit code, the JSON object, and its findings as (kind, subject)."""
    ran = check(data, "--json")
    assert ran.stderr == ""
    report = json.loads(ran.stdout)
    return ran.returncode, report, sorted((one["kind"], one["subject"])
                                          for one in report["findings"])


def file_of(daemon: Daemon, blob: Blob) -> Path:
    return daemon.data / "cache" / blob.hex[:2] / blob.hex[2:4] / blob.hex / "data"


@pytest.fixture
def stopped(daemon, client):
    """A folder with blobs, whose daemon has ended."""
    daemon.blobs = [Blob.random(size, "check") for size in (0, 5, 5 * MIB)]
    for blob in daemon.blobs:
        client.upload(blob)
    client.close()
    assert daemon.stop() == 0
    return daemon


def test_a_folder_in_order_is_clean(stopped):
    code, report, findings = found(stopped.data)
    assert (code, findings) == (CLEAN, [])
    assert report["clean"] is True
    assert (report["records"], report["files"], report["bytes"]) == (3, 3, 5 * MIB + 5)
    assert sum(report["counts"].values()) == 0

    ran = check(stopped.data, "--jobs", "3")
    assert ran.returncode == CLEAN
    assert ran.stdout == ("clean: 3 records, 3 files of 5.0 MiB read, 0 uploads in progress, "
                          "0 findings\n")
    assert ran.stderr == ""


def test_each_fault_is_found_named_and_left_as_it_is(stopped):
    empty, small, large = stopped.blobs
    file_of(stopped, small).unlink()
    with file_of(stopped, large).open("r+b") as file:
        file.seek(4 * MIB + 1)
        file.write(b"rot")
    file_of(stopped, empty).write_bytes(b"longer")
    adoptable = Blob.random(100, "adoptable")
    file_of(stopped, adoptable).parent.mkdir(parents=True)
    file_of(stopped, adoptable).write_bytes(adoptable.data)
    evidence = file_of(stopped, adoptable).with_name("data.quarantined-1796000000000000000")
    evidence.write_bytes(b"bad")
    leftover = stopped.data / "upload" / ("c" * 32 + "-00000000")
    leftover.write_bytes(b"half")
    everything = {path: path.read_bytes() for path in stopped.data.rglob("*") if path.is_file()}

    code, report, findings = found(stopped.data)

    assert code == FINDINGS
    assert findings == sorted([
        ("record_without_file", small.digest), ("wrong_bytes", large.digest),
        ("wrong_size", empty.digest), ("file_without_record", adoptable.digest),
        ("quarantined", str(evidence)), ("upload_leftover", str(leftover))])
    assert report["clean"] is False
    assert report["counts"]["wrong_bytes"] == 1
    assert everything == {path: path.read_bytes() for path in stopped.data.rglob("*")
                          if path.is_file()}

    ran = check(stopped.data)
    assert ran.returncode == FINDINGS
    assert f"wrong_bytes {large.digest}: " in ran.stdout
    assert ran.stdout.splitlines()[-1].startswith("not clean: 3 records, ")


def test_what_the_daemon_mends_by_itself_is_clean_afterwards(stopped):
    adoptable = Blob.random(100, "adoptable")
    file_of(stopped, adoptable).parent.mkdir(parents=True)
    file_of(stopped, adoptable).write_bytes(adoptable.data)
    assert found(stopped.data)[0] == FINDINGS

    stopped.start()
    with KrakenClient(stopped) as client:
        client.assert_has(adoptable)
    assert stopped.stop() == 0

    assert found(stopped.data)[0] == CLEAN


def test_it_refuses_while_the_daemon_runs(daemon):
    ran = check(daemon.data)
    assert ran.returncode == CANNOT_RUN
    assert ran.stdout == ""
    assert ran.stderr.startswith("orlop: ")
    assert "is in use by another process" in ran.stderr


def test_after_kill_9_the_folder_is_clean(daemon, client):
    client.upload(Blob.random(1000))
    daemon.kill9()
    assert found(daemon.data)[0] == CLEAN


@pytest.mark.parametrize("flags", [["--jobs", "0"], ["--jobs"], ["--jobs=x"], ["--nonsense"],
                                   ["--jobs", "257"]])
def test_a_mistake_in_the_flags_is_2(tmp_path, flags):
    ran = check(tmp_path, *flags)
    assert ran.returncode == CANNOT_RUN
    assert ran.stderr.startswith("orlop: -")


def test_a_folder_that_is_not_there_is_2_and_is_not_made(tmp_path):
    ran = check(tmp_path / "nowhere")
    assert ran.returncode == CANNOT_RUN
    assert not (tmp_path / "nowhere").exists()


def test_a_database_that_is_damaged_is_a_finding_and_files_are_still_looked_at(stopped):
    for manifest in (stopped.data / "db").glob("MANIFEST-*"):
        manifest.write_bytes(b"junk")
    with file_of(stopped, stopped.blobs[2]).open("r+b") as file:
        file.write(b"rot")

    code, report, findings = found(stopped.data)

    assert code == FINDINGS
    assert [kind for kind, _ in findings] == ["database_unreadable", "wrong_bytes"]
    assert report["files"] == 3


def test_a_progress_bar_is_drawn_on_a_terminal(stopped):
    ours, theirs = pty.openpty()
    sparse = file_of(stopped, stopped.blobs[2])
    os.truncate(sparse, 1 << 30)  # Long enough for one look at the clock.
    with subprocess.Popen([str(BINARY), "check", "--data", str(stopped.data)],
                          stdout=subprocess.PIPE, stderr=theirs, text=True) as ran:
        os.close(theirs)
        drawn = b""
        while True:
            try:
                some = os.read(ours, 4096)
            except OSError:  # The other end is closed.
                break
            if not some:
                break
            drawn += some
        out = ran.stdout.read()
    os.close(ours)
    assert ran.returncode == FINDINGS
    assert b"MiB" in drawn
    assert b"[#" in drawn
    assert "wrong_size" in out
