"""Case C18: slow headers, slow bodies, slow readers.

Who owes a header is cut at its deadline, however busily it drips. Who moves bytes, however few, is
served to the end; who moves none is cut. All the others notice nothing.
"""

import select
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from alive import still_alive
from blob import KIB, MIB, Blob
from connection import Connection, poll, request
from daemon import FULL, Daemon
from kraken_client import KrakenClient

# The case's own sizes with ORLOP_FULL, and deadlines as they are by default.
TRICKLERS = 2000 if FULL else 200
READERS = 200 if FULL else 20
HEADER_S = 30 if FULL else 4
SILENCE_S = 60 if FULL else 3
HONEST_S = 180 if FULL else 20
DRIP_S = 5.0 if FULL else 0.5
P99_MAX_S = 0.1 if FULL else 0.5  # The short run shares its two cores with other tests.
UPLOAD_BYTES_A_SECOND = READ_BYTES_A_SECOND = KIB

SETTINGS = {} if FULL else {"server.header_timeout": f"{HEADER_S}s",
                            "server.progress_timeout": f"{SILENCE_S}s"}


class Trickler:
    """Sends a header that never ends, a byte now and then."""

    def __init__(self, daemon: Daemon, stack: ExitStack):
        self.socket = stack.enter_context(socket.create_connection(("127.0.0.1", daemon.port)))
        self.socket.sendall(b"GET / HTTP/1.1\r\nX: ")
        self.begun = time.monotonic()

    def drip(self) -> bool:
        """False once the daemon has ended it; it may say 408 before."""
        if poll(self.socket, select.POLLIN, 0):
            try:
                said = self.socket.recv(4096)
            except ConnectionResetError:
                said = b""
            assert said == b"" or said.startswith(b"HTTP/1.1 408 ")
            return False
        try:
            self.socket.send(b"a")
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True


class SlowReader:
    """Takes a KiB a second of a blob, through a small window."""

    def __init__(self, daemon: Daemon, blob: Blob, stack: ExitStack):
        self.socket = stack.enter_context(socket.socket())
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(10)
        self.socket.connect(("127.0.0.1", daemon.port))
        self.socket.sendall(request("GET", f"/cas/{blob.hex}"))
        self.taken = 0

    def take(self) -> None:
        part = self.socket.recv(READ_BYTES_A_SECOND)
        assert part, f"a reader that is slow was cut after {self.taken} bytes"
        self.taken += len(part)


def threads_of(daemon: Daemon) -> int:
    return sum(not (task / "comm").read_text().startswith("rocksdb:")
               for task in Path(f"/proc/{daemon.pid}/task").iterdir())


def is_closed(connection: Connection) -> bool:
    return bool(poll(connection.socket, select.POLLIN, 0)) and connection.is_closed()


def health_seconds(daemon: Daemon) -> float:
    begun = time.monotonic()
    with Connection(daemon.port) as connection:
        connection.send(request("GET", "/health", {"Connection": "close"}))
        assert connection.answer().body == b"OK\n"
    return time.monotonic() - begun


@pytest.mark.settings(SETTINGS)
@pytest.mark.limit(HONEST_S + 90)
def test_slow_clients_are_told_from_silent_ones_and_nobody_else_notices(daemon):
    big, honest, silent = (Blob.random(8 * MIB, "c18"),
                           Blob.random(HONEST_S * UPLOAD_BYTES_A_SECOND, "honest"),
                           Blob.random(64 * KIB, "silent"))
    with still_alive(daemon), KrakenClient(daemon) as client, ExitStack() as stack:
        assert client.upload(big) == 200
        silent_uid = client.begin(silent.digest)
        honest_uid = client.begin(honest.digest)
        threads, memory = threads_of(daemon), daemon.memory_bytes()

        tricklers = [Trickler(daemon, stack) for _ in range(TRICKLERS)]
        readers = [SlowReader(daemon, big, stack) for _ in range(READERS)]
        writer = stack.enter_context(Connection(daemon.port))
        writer.send(request("PATCH", client.upload_path(honest.digest, honest_uid),
                            {"Content-Range": f"0-{honest.size}", "Content-Length": honest.size}))
        stalled = stack.enter_context(Connection(daemon.port))
        stalled.send(request("PATCH", client.upload_path(silent.digest, silent_uid),
                             {"Content-Range": f"0-{silent.size}", "Content-Length": silent.size})
                     + silent.data[:1000])
        # A reader that takes its header and then nothing.
        frozen = SlowReader(daemon, big, stack)
        frozen.take()
        client.close()
        begun = time.monotonic()

        trickling, lifetimes, latencies = list(tricklers), [], []
        stalled_cut_after = None
        next_drip = next_second = begun
        sent = 0
        while sent < honest.size or trickling:
            now = time.monotonic()
            if now >= next_drip:
                next_drip += DRIP_S
                alive = [one for one in trickling if one.drip()]
                lifetimes += [now - one.begun for one in trickling if one not in alive]
                trickling = alive
            if now >= next_second:
                next_second += 1
                writer.send(honest.data[sent:sent + UPLOAD_BYTES_A_SECOND])
                sent = min(honest.size, sent + UPLOAD_BYTES_A_SECOND)
                for reader in readers:
                    reader.take()
                assert threads_of(daemon) == threads, "threads come with connections"
                if len(trickling) == TRICKLERS:
                    grown = daemon.memory_bytes() - memory
                    assert grown < (TRICKLERS + READERS) * 64 * KIB + 16 * MIB
            if stalled_cut_after is None and is_closed(stalled):
                stalled_cut_after = now - begun
            assert now - begun < HONEST_S + HEADER_S + 30, "a header may take for ever"
            latencies.append(health_seconds(daemon))
            time.sleep(0.02)

        assert writer.answer().status == 200
        assert client.commit(honest.digest, honest_uid).status == 200
        client.assert_has(honest)

        assert HEADER_S - 0.5 <= min(lifetimes), "cut before its time"
        assert max(lifetimes) <= HEADER_S + 1 + 2 * DRIP_S + 2, "not cut in time"
        assert SILENCE_S - 1 < stalled_cut_after < SILENCE_S + 5
        assert all(reader.taken >= (HONEST_S // 2) * READ_BYTES_A_SECOND for reader in readers)
        # What the frozen one was sent before it was cut is all that it can still take.
        assert len(_rest_of(frozen.socket)) < big.size - MIB
        latencies.sort()
        p99 = latencies[int(len(latencies) * 0.99)]
        print(f"C18: {len(latencies)} probes, p99 {p99 * 1000:.1f} ms; headers cut after "
              f"{min(lifetimes):.1f} to {max(lifetimes):.1f} s; silent body after "
              f"{stalled_cut_after:.1f} s")
        assert p99 < P99_MAX_S
        assert client.cancel(silent.digest, silent_uid).status == 204
        assert client.delete(big.digest).status == 202
        assert client.delete(honest.digest).status == 202


def _rest_of(taken_from: socket.socket) -> bytes:
    taken_from.settimeout(5)
    rest = bytearray()
    try:
        while part := taken_from.recv(1 << 20):
            rest += part
    except ConnectionResetError:
        pass
    return bytes(rest)
