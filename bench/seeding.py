#!/usr/bin/env python3
"""What seeding costs the daemon beside its own HTTP GET: CPU seconds a GB, memory a connection.

Rounds are interleaved, clients throw the bytes away in the kernel, and the first pass of each row
compares every piece and the whole (bench/leecher.cc). The bars are those of issue 9."""

import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/e2e"))
os.environ.setdefault("ORLOP_BINARY", str(ROOT / "build/release/server/orlop"))
os.environ.setdefault("ORLOP_E2E_FOLDERS", "/dev/shm")

from blob import MIB, Blob  # noqa: E402
from connection import request  # noqa: E402
from daemon import Daemon, free_port  # noqa: E402
from kraken_client import KrakenClient  # noqa: E402

LEECHER = ROOT / "build/release/bench/tools/leecher"
ROUNDS = int(os.environ.get("ORLOP_BENCH_ROUNDS", "7"))
GB = 1e9
CPU_RATIO_MAX, CONNECTION_BYTES_MAX = 1.2, 64 * 1024
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(daemon: Daemon) -> float:
    stat = Path(f"/proc/{daemon.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / TICKS


def http_gets(daemon: Daemon, blob: Blob, count: int) -> int:
    buffer = bytearray(MIB)
    with socket.create_connection(("127.0.0.1", daemon.port)) as one:
        for _ in range(count):
            one.sendall(request("GET", f"/cas/{blob.hex}"))
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += one.recv(1)
            left = blob.size
            while left:
                left -= one.recv_into(buffer, min(left, MIB), socket.MSG_TRUNC)
    return blob.size * count


def leech(port: int, metainfo: Path, agents: int, rounds: int, *more: str) -> dict:
    ran = subprocess.run([str(LEECHER), "--port", str(port), "--metainfo", str(metainfo),
                          "--agents", str(agents), "--rounds", str(rounds), *more],
                         check=True, stdout=subprocess.PIPE, text=True, timeout=600)
    return json.loads(ran.stdout)


def measured(daemon: Daemon, run) -> tuple[float, float]:
    """CPU seconds a GB, and GB a second."""
    cpu, begun = cpu_seconds(daemon), time.monotonic()
    size = run()
    return (cpu_seconds(daemon) - cpu) / size * GB, size / (time.monotonic() - begun) / GB


def main() -> None:
    peer_port = free_port()
    arguments = ["--peer-ip", "127.0.0.1", "--peer-port", str(peer_port),
                 "--set", "scheduler.connstate.max_open_conn=200"]
    # What the daemon says goes beside the table.
    with contextlib.redirect_stdout(sys.stderr), Daemon(None, arguments) as daemon:
        metainfo = daemon.folder / "metainfo"
        blob = Blob.random(64 * MIB, "seeding")
        with KrakenClient(daemon) as client:
            assert client.upload(blob) == 200
            metainfo.write_bytes(client.request(
                "GET", f"/internal/namespace/bench/blobs/{blob.digest}/metainfo").body)
        rows = {"HTTP GET, 1 client": lambda: http_gets(daemon, blob, 24)}
        for agents, rounds in ((1, 24), (10, 3), (100, 1)):
            leech(peer_port, metainfo, agents, 1, "--verify")
            rows[f"{agents} leecher{'s' if agents > 1 else ''}"] = (
                lambda agents=agents, rounds=rounds: leech(peer_port, metainfo, agents,
                                                           rounds)["bytes"])
        figures: dict[str, list[tuple[float, float]]] = {name: [] for name in rows}
        before = daemon.memory_bytes()
        for _ in range(ROUNDS):
            for name, run in rows.items():
                figures[name].append(measured(daemon, run))
        peak = daemon.memory_bytes("VmHWM")

    base = statistics.median(cpu for cpu, _ in figures["HTTP GET, 1 client"])
    print(f"{'64 MiB blob, tmpfs':<22} {'CPU s/GB':>9} {'min..max':>15} {'GB/s':>6} {'x GET':>6}  bar")
    for name, pairs in figures.items():
        costs = sorted(cpu for cpu, _ in pairs)
        ratio = statistics.median(costs) / base
        verdict = "" if name.startswith("HTTP") else (
            f"<= {CPU_RATIO_MAX}  {'met' if ratio <= CPU_RATIO_MAX else 'MISSED'}")
        print(f"{name:<22} {statistics.median(costs):>9.3f} {costs[0]:>7.3f}..{costs[-1]:<6.3f} "
              f"{statistics.median(rate for _, rate in pairs):>6.2f} {ratio:>6.2f}  {verdict}")
    each = (peak - before) / 100
    print(f"memory a connection, at 100: {each / 1024:.0f} KiB; bar <= 64 KiB  "
          f"{'met' if each <= CONNECTION_BYTES_MAX else 'MISSED'}")
    print(f"{ROUNDS} rounds, interleaved; medians.")


if __name__ == "__main__":
    main()
