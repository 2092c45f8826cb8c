"""C26: kill -9 during a commit. What was answered with success is there, whole; all else is there
whole or not at all; and before the answer everything was on the disk, as a trace shows. Kills under
a load of many uploads: test_kill9.py. A death at each single call to the disk: tests/origin."""

import random
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from blob import MIB, Blob
from connection import Closed, Connection, request
from daemon import FULL, Daemon
from kraken_client import KrakenClient

ROUNDS = 200 if FULL else 20
KILL_WITHIN_SECONDS = 0.05
DIALECTS = ["public", "internal", "duplicate", "cas"]


@dataclass
class Round:
    """One upload, and the daemon's death at or after its last request."""
    blob: Blob
    uid: str | None = None
    acknowledged: bool = False


def last_request(client: KrakenClient, dialect: str, blob: Blob) -> tuple[str | None, bytes]:
    """Does everything before the request that commits; the upload's id, and that request."""
    if dialect == "cas":
        return None, request("PUT", f"/cas/{blob.hex}", {}, blob.data)
    uploads = (f"/internal/blobs/{blob.digest}/uploads" if dialect == "internal"
               else f"{client.blob_path(blob.digest)}/uploads")
    uid = client.request("POST", uploads).header("Location")
    patch = client.request("PATCH", f"{uploads}/{uid}", blob.data,
                           {"Content-Range": f"0-{blob.size}"})
    assert patch.status == 200, patch
    if dialect == "duplicate":  # It also records a task, which pins the blob.
        return uid, request("PUT", f"/internal/duplicate{uploads}/{uid}", {}, b'{"Delay":0}')
    return uid, request("PUT", f"{uploads}/{uid}")


def kill_in_commit(daemon: Daemon, number: int, wait: float) -> Round:
    dialect = DIALECTS[number % len(DIALECTS)]
    blob = Blob.random(8 * MIB, f"c26/{number}")
    with KrakenClient(daemon) as client, Connection(daemon.port) as connection:
        uid, sent = last_request(client, dialect, blob)
        connection.send(sent)
        time.sleep(wait)
        daemon.kill9()
        try:  # What was sent before the death can still be read.
            status = connection.answer().status
        except Closed:
            return Round(blob, uid)
        assert status == (201 if dialect == "cas" else 200)
        return Round(blob, uid, acknowledged=True)


def assert_whole_or_absent(client: KrakenClient, done: Round) -> str:
    blob = done.blob
    status = client.get(blob.digest).status
    if done.acknowledged:
        assert status == 200, f"an acknowledged blob is lost: {blob}"
    if status == 200:
        client.assert_has(blob)
    else:
        client.assert_lacks(blob)
    if done.uid is not None:
        # The upload lives on if it was not committed: whole, for the client to commit it again.
        left = client.progress(blob.digest, done.uid)
        assert left in ([None] if status == 200 else [None, blob.size])
        if left is not None:
            assert client.cancel(blob.digest, done.uid).status == 204
    assert client.upload(blob, chunk=MIB) == (409 if status == 200 else 200)
    client.assert_has(blob)
    return "acknowledged" if done.acknowledged else "whole" if status == 200 else "absent"


@pytest.mark.limit(3000 if FULL else 300)
def test_a_kill_within_a_commit_loses_nothing_and_leaves_nothing_half():
    chance = random.Random(26)
    outcomes = {"acknowledged": 0, "whole": 0, "absent": 0}
    rounds: list[Round] = []
    with Daemon() as daemon:
        for number in range(ROUNDS):
            rounds.append(kill_in_commit(daemon, number, chance.uniform(0, KILL_WITHIN_SECONDS)))
            daemon.start()
            with KrakenClient(daemon) as client:
                outcomes[assert_whole_or_absent(client, rounds[-1])] += 1
            assert daemon.upload_files_after_settling() == [], "left after the start"
        with KrakenClient(daemon) as client:
            for done in rounds:
                client.assert_has(done.blob)
        ours = {done.blob.hex for done in rounds}
        assert {path.parent.name for path in daemon.blob_files()} == ours
        files = [path for path in (daemon.data / "cache").rglob("*") if path.is_file()]
        assert {path.name for path in files} == {"data"}
    print(f"{ROUNDS} kills: {outcomes}")
    assert outcomes["acknowledged"] > 0 and outcomes["whole"] + outcomes["absent"] > 0, (
        "the kills came all too early, or all too late")


# --- the order of the calls to the disk, as strace sees them -------------------------------------

WRITES = {"write", "pwrite64", "writev"}
TRACED = "rename,renameat,renameat2,fsync,fdatasync,syncfs,write,pwrite64,writev,sendmsg,sendto"
# "1234  fdatasync(29</x/y>) = 0", or in two lines when threads overlap.
WHOLE_CALL = re.compile(r"^\d+ +(\w+)\((.*)\) += (-?\d+)")
CALL_BEGINS = re.compile(r"^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$")
CALL_ENDS = re.compile(r"^(\d+) +<\.\.\. (\w+) resumed>.*\) += (-?\d+)")


@dataclass
class DiskCall:
    name: str
    about: str  # Its arguments; strace shows a descriptor with its path.
    begins: int
    ends: int
    result: int


class Trace:
    """What one daemon asks of the kernel, in order, while it is open."""

    def __init__(self, daemon: Daemon):
        self._path = daemon.folder / "trace"
        self._process = subprocess.Popen(
            ["strace", "-f", "-y", "-s", "48", "-e", f"trace={TRACED}", "-o", str(self._path),
             "-p", str(daemon.pid)], stderr=subprocess.PIPE, text=True)
        first = self._process.stderr.readline()
        if "attached" not in first:
            self._process.wait()
            pytest.skip(f"no trace here: {first.strip()}")

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait()

    def calls(self) -> list[DiskCall]:
        calls, open_calls = [], {}
        for number, line in enumerate(self._path.read_text(errors="replace").splitlines()):
            if match := WHOLE_CALL.match(line):
                calls.append(DiskCall(match[1], match[2], number, number, int(match[3])))
            elif match := CALL_BEGINS.match(line):
                open_calls[match[1]] = DiskCall(match[2], match[3], number, number, -1)
                calls.append(open_calls[match[1]])
            elif match := CALL_ENDS.match(line):
                call = open_calls.pop(match[1])
                call.ends, call.result = number, int(match[3])
        return calls


def traced_commit(settings: dict[str, str], dialect: str) -> tuple[Daemon, Blob, list[DiskCall]]:
    """The calls of one commit up to its answer."""
    if shutil.which("strace") is None:
        pytest.skip("no strace")
    blob = Blob.random(100_000, f"traced {dialect} {settings}")
    with Daemon(settings) as daemon:
        with KrakenClient(daemon) as client, Connection(daemon.port) as connection:
            # Only what this commit does is to be seen: RocksDB has its log, the folders are made.
            assert client.upload(Blob.random(100, "before")) == 200
            with Trace(daemon) as trace:
                _, sent = last_request(client, dialect, blob)
                connection.send(sent)
                status = connection.answer().status
                # The answer is here before strace has seen the end of the call that sent it. Behind
                # one more answer from the same reactor it has.
                connection.send(request("GET", "/health"))
                assert connection.answer().status == 200
            assert status == (201 if dialect == "cas" else 200)
            client.assert_has(blob)
        calls = [call for call in trace.calls() if call.result >= 0]
        answer = next(call for call in calls if call.name in ("sendmsg", "sendto")
                      and f"HTTP/1.1 {status} " in call.about
                      and call.begins > renames(calls, blob)[0].begins)
        return daemon, blob, [call for call in calls if call.ends < answer.begins]


def renames(calls: list[DiskCall], blob: Blob) -> list[DiskCall]:
    """From the upload folder to the blob's name; each path in one, or as a folder and a name."""
    name = rf'/upload[>/].*/{blob.hex}(/|>, ")data"'
    return [call for call in calls
            if call.name.startswith("rename") and re.search(name, call.about)]


def only(calls: list[DiskCall], names: set[str], path: str, after: int = -1) -> list[DiskCall]:
    """Calls of these names on what has this path (a pattern), begun after the line `after`."""
    return [call for call in calls if call.name in names and call.begins > after
            and re.search(path, call.about)]


def log_write(calls: list[DiskCall], after: int) -> DiskCall:
    """The first write to RocksDB's log after that: the record, and what is owed, in one batch."""
    writes = only(calls, WRITES, r"/db/\d+\.log>", after)
    assert writes, "no record was written before the answer"
    return writes[0]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("durability", ["group", "always"])
def test_the_answer_comes_after_rename_record_and_syncfs(durability, dialect):
    _, blob, calls = traced_commit({"store.durability": durability}, dialect)
    rename = renames(calls, blob)[0]
    record = log_write(calls, rename.ends)
    # One call makes bytes, names and log durable: it must begin after all of them. Any folder of
    # the file system stands for it; that of the uploads is on the blobs' own (docs/decisions/0009).
    assert only(calls, {"syncfs"}, r"/upload>", record.ends), "no syncfs before the answer"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("durability", ["group", "always"])
def test_the_answer_comes_after_a_sync_of_file_folders_and_log(durability, dialect):
    settings = {"store.durability": durability, "store.group_sync": "fsync"}
    _, blob, calls = traced_commit(settings, dialect)
    rename = renames(calls, blob)[0]
    syncs = {"fsync", "fdatasync"}
    written = max(call.ends for call in only(calls, WRITES, r"/upload/[^.]+>"))
    synced = [call for call in only(calls, syncs, r"/upload/[^.]+>", written)
              if call.ends < rename.begins]
    assert synced, "the name may point at bytes that a power cut takes"
    record = log_write(calls, rename.ends)
    shard = f"/cache/{blob.hex[:2]}/{blob.hex[2:4]}"
    for folder in [f"{shard}/{blob.hex}", shard, f"/cache/{blob.hex[:2]}", "/cache"]:
        assert only(calls, syncs, rf"{folder}>", rename.ends), f"{folder} was not synced"
    assert only(calls, syncs, r"/db/\d+\.log>", record.ends), "the record was not synced"


def test_without_durability_the_trace_shows_no_sync():
    """What the tests above look for can be missing."""
    _, blob, calls = traced_commit({"store.durability": "never"}, "public")
    rename = renames(calls, blob)[0]
    assert log_write(calls, rename.ends)
    assert only(calls, {"fsync", "fdatasync", "syncfs"}, "", rename.begins) == []
