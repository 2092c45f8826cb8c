"""Whether a daemon lives on, unharmed, after what a test has done to it: the same process, nothing
leaked, nothing left in the upload area, and a fresh upload works."""

import os
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from blob import KIB, Blob
from daemon import Daemon
from kraken_client import KrakenClient

SECONDS_MAX = 10.0  # For descriptors and threads to be as they were.


@dataclass(frozen=True)
class Vitals:
    """What a daemon without clients holds. RocksDB opens tables and starts threads when it likes,
    within bounds of its own, so these do not count."""
    pid: int
    descriptors: Counter
    threads: int

    @classmethod
    def of(cls, daemon: Daemon) -> "Vitals":
        process = Path(f"/proc/{daemon.pid}")
        return cls(daemon.pid,
                   Counter(_descriptors(process / "fd", daemon.data / "db")),
                   sum(not _reads(task / "comm").startswith("rocksdb:")
                       for task in (process / "task").iterdir()))

    def leaked_since(self, before: "Vitals") -> dict[str, int]:
        """What there is more of. Fewer is fine: at the beginning, a client of before may not have
        been noticed to be gone."""
        more = dict(self.descriptors - before.descriptors)
        if self.threads > before.threads:
            more["threads"] = self.threads - before.threads
        return more


@contextmanager
def still_alive(daemon: Daemon) -> Iterator[None]:
    """What happens inside may not harm the daemon, which nobody else calls at begin and end. It may
    be restarted inside only if it is meant to be another process: then use `assert_alive`."""
    before = Vitals.of(daemon)
    yield
    assert_alive(daemon, before)


def assert_alive(daemon: Daemon, before: Vitals) -> None:
    assert daemon.process.poll() is None, "the daemon is gone"
    assert daemon.pid == before.pid
    until = time.monotonic() + SECONDS_MAX
    while (leaked := Vitals.of(daemon).leaked_since(before)) and time.monotonic() < until:
        time.sleep(0.02)
    assert leaked == {}, f"not given back within {SECONDS_MAX} s"
    assert daemon.upload_files_after_settling() == []
    assert_serves(daemon)
    assert daemon.upload_files_after_settling() == []


def assert_serves(daemon: Daemon) -> None:
    """A fresh blob goes in by each dialect, and comes back."""
    by_kraken, by_put = (Blob.random(3 * KIB, uuid.uuid4()) for _ in range(2))
    with KrakenClient(daemon) as client:
        assert client.upload(by_kraken) == 200
        assert client.request("PUT", f"/cas/{by_put.hex}", by_put.data).status == 201
        for blob in [by_kraken, by_put]:
            client.assert_has(blob)
            assert client.delete(blob.digest).status == 202  # No test finds a blob of ours.


def _descriptors(folder: Path, database: Path) -> Iterator[str]:
    for link in folder.iterdir():
        try:
            target = os.readlink(link)
        except FileNotFoundError:
            continue
        kind, _, number = target.partition(":[")
        if number:
            yield kind  # "socket:[769673]": another one of the same kind is as good.
        elif not target.startswith(f"{database}/"):
            yield target


def _reads(path: Path) -> str:
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return "rocksdb:gone"
