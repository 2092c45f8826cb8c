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


def indexed(client: KrakenClient) -> tuple[str, dict[str, int]]:
    """The indexer's line of /readiness?verbose, and its counts."""
    facts = client.request("GET", "/readiness?verbose").body.decode()
    line = re.search(r"^indexing: .*$", facts, re.M).group()
    return line, {name: int(count) for name, count in re.findall(r"(\w+(?: \w+)?) (\d+)", line)}


def blobs_in(counts: dict[str, int]) -> int:
    return counts["recorded unread"] + counts["hashed"] + counts["known before"]


@pytest.mark.limit(1500 if FULL else 180)
def test_a_large_folder_is_served_at_once_and_indexed_behind():
    """A fifth of it at the indexer's own pace; then it is started again without one, and goes on."""
    daemon = Daemon()
    fill(daemon.data / "cache")
    chance = random.Random(8)
    with daemon:
        begun = time.monotonic()
        with KrakenClient(daemon) as client:
            client.assert_has(blob(chance.randrange(BLOBS)))
            first_get = time.monotonic() - begun
            worked = cpu_seconds(daemon)
            while (paced := blobs_in(indexed(client)[1])) < BLOBS // 5:
                assert time.monotonic() - begun < BLOBS / 50 + 60, indexed(client)
                time.sleep(0.5)
            seconds = time.monotonic() - begun
            share = (cpu_seconds(daemon) - worked) / seconds
        print(f"\n{BLOBS} blobs: first GET {first_get * 1000:.0f} ms, {paced} indexed in "
              f"{seconds:.1f} s ({paced / seconds:.0f}/s), {share * 100:.1f} % of a core, RSS "
              f"{daemon.memory_bytes() >> 20} MiB")
        assert first_get < READY_SECONDS_MAX
        assert share < CPU_SHARE_MAX

        daemon.settings["store.index_cpu_percent"] = "100"
        daemon.restart()
        begun = time.monotonic()
        with KrakenClient(daemon) as client:
            while not indexed(client)[0].startswith("indexing: over"):
                assert time.monotonic() - begun < BLOBS / 50 + 60, indexed(client)
                time.sleep(0.5)
            line, counts = indexed(client)
            print(f"the rest without a pace in {time.monotonic() - begun:.1f} s: {line}")
            assert blobs_in(counts) == BLOBS
            for number in chance.sample(range(BLOBS), 50):
                client.assert_has(blob(number))
