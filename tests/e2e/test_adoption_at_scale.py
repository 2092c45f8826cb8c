"""A folder that a Kraken origin filled is served at once and indexed behind. Short: 2,000 blobs; with
ORLOP_FULL=1 100,000, half of them with `_torrentmeta`. The figures are printed (pytest -s)."""

import os
import random
import re
import time
from pathlib import Path

import pytest

from blob import Blob
from daemon import FULL, Daemon
from kraken_client import KrakenClient
from kraken_folder import put_blob

BLOBS = 100_000 if FULL else 2_000
READY_SECONDS_MAX = 5.0
CPU_SHARE_MAX = 0.10  # Of a core, all threads: the indexer's 5 %, RocksDB's and our own GETs.
TICKS = os.sysconf("SC_CLK_TCK")


def blob(number: int) -> Blob:
    return Blob.random(100 + number % 900, f"scale-{number}")


def fill(cache: Path) -> None:
    for number in range(BLOBS):
        put_blob(cache, blob(number), last_access=1_700_000_000 + number,
                 metainfo=number % 2 == 0)


def cpu_seconds(daemon: Daemon) -> float:
    fields = Path(f"/proc/{daemon.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@pytest.mark.limit(3000 if FULL else 180)
def test_a_large_folder_is_served_at_once_and_indexed_behind():
    daemon = Daemon()
    fill(daemon.data / "cache")
    chance = random.Random(8)
    with daemon:
        begun = time.monotonic()
        with KrakenClient(daemon) as client:
            client.assert_has(blob(chance.randrange(BLOBS)))
            first_get = time.monotonic() - begun
            worked = cpu_seconds(daemon)
            while True:
                facts = client.request("GET", "/readiness?verbose").body.decode()
                line = re.search(r"^indexing: .*$", facts, re.M).group()
                if line.startswith("indexing: over"):
                    break
                assert time.monotonic() - begun < BLOBS / 50 + 60, line
                time.sleep(0.5)
            seconds = time.monotonic() - begun
            share = (cpu_seconds(daemon) - worked) / seconds
            for number in chance.sample(range(BLOBS), 50):
                client.assert_has(blob(number))
        print(f"\n{BLOBS} blobs: first GET {first_get * 1000:.0f} ms, indexed in {seconds:.1f} s "
              f"({BLOBS / seconds:.0f}/s), {share * 100:.1f} % of a core, RSS "
              f"{daemon.memory_bytes() >> 20} MiB\n{line}")
        counts = {name: int(count) for name, count in re.findall(r"(\w+(?: \w+)?) (\d+)", line)}
        assert counts["recorded unread"] + counts["hashed"] + counts["known before"] == BLOBS
        assert first_get < READY_SECONDS_MAX
        assert share < CPU_SHARE_MAX
