"""The real orlop process: started on a folder of its own, stopped, killed, started again."""

import http.client
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("ORLOP_BINARY", REPOSITORY / "build/release/server/orlop"))
FULL = os.environ.get("ORLOP_FULL") == "1"

# A real disk and not a tmpfs: the syncs and the page cache are part of what is tested.
FOLDERS = Path(os.environ.get("ORLOP_E2E_FOLDERS", "/var/tmp"))

# AddressSanitizer keeps what was freed: then memory says nothing, but of AddressSanitizer.
UNDER_ASAN = BINARY.exists() and b"__asan_init" in BINARY.read_bytes()

# Below Linux's ephemeral range (32768 and up): otherwise a client that calls the port of a dead
# daemon may be given that very port as its own and connect to itself.
PORTS = range(20000, 32000)

LISTENING = re.compile(r"event=listening\b.*\bport=(\d+)")
# What a daemon writes when it finds its own code wrong. No test may pass over it.
OWN_FAULT = re.compile(r"(Address|Thread|UndefinedBehavior|Leak)Sanitizer|runtime error:"
                       r"|orlop: check failed|invariant_violation")


class DaemonDied(Exception):
    """The process ended, or never listened, although nobody asked it to end."""


def free_port() -> int:
    for port in random.sample(PORTS, 200):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise DaemonDied("no free port")


class Daemon:
    """One `orlop serve`. Use as a context manager: the process and the folder go at its end.

    The port stays the same over restarts, as the ring label does, which is part of upload ids.
    A `wrapper` is a command that becomes the daemon in its own process, as `strace -D` does.
    """

    def __init__(self, settings: dict[str, str] | None = None, arguments: list[str] | None = None,
                 wrapper: list[str] | None = None):
        self.folder = Path(tempfile.mkdtemp(prefix="orlop-e2e-", dir=FOLDERS))
        self.data = self.folder / "data"
        self.log_path = self.folder / "log"
        self.log_path.touch()
        self.settings = {"server.lame_duck": "0s"} | (settings or {})
        self.arguments = arguments or []
        self.wrapper = wrapper or []
        self.port = free_port()
        self.process: subprocess.Popen | None = None
        self._end_expected = True

    def __enter__(self) -> "Daemon":
        try:
            self.start()
        except BaseException:
            print(self.log_tail())
            self._remove()
            raise
        return self

    def __exit__(self, *_) -> None:
        """A daemon that ended by itself, or cannot end cleanly, fails the test that used it."""
        try:
            if self.process.poll() is None:
                code = self.stop()
                assert code == 0, f"the daemon ended with {code} after SIGTERM"
            assert self._end_expected, f"the daemon died with {self.process.returncode}"
            fault = OWN_FAULT.search(self.log())
            assert fault is None, f"the daemon reports a fault of its own: {fault.group()}"
        finally:
            print(self.log_tail())
            self._remove()

    @property
    def label(self) -> str:
        """The daemon's name in its ring of one."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self.process.pid

    def command(self, port: int | None = None, data: Path | None = None) -> list[str]:
        command = [str(BINARY), "serve", "--data", str(data or self.data),
                   "--listen", "127.0.0.1", "--blobserver-hostname", "127.0.0.1",
                   "--blobserver-port", str(self.port if port is None else port)]
        for key, value in self.settings.items():
            command += ["--set", f"{key}={value}"]
        return command + self.arguments

    def _environment(self) -> dict[str, str]:
        # LeakSanitizer cannot work in a process that is traced, and says so with its exit code.
        untraced = {"ASAN_OPTIONS": "detect_leaks=0"} if self.wrapper else {}
        return os.environ | untraced

    def start(self, ready_within: float = 15.0) -> float:
        """Returns the seconds until /readiness said OK."""
        begun = time.monotonic()
        already = self.log_path.stat().st_size
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(self.wrapper + self.command(),
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            cwd=self.folder, env=self._environment())
        self._end_expected = False
        while not self._ready(already):
            if self.process.poll() is not None:
                self._end_expected = True
                raise DaemonDied(f"start: exit code {self.process.returncode}\n{self.log_tail()}")
            if time.monotonic() - begun > ready_within:
                raise DaemonDied(f"not ready after {ready_within} s\n{self.log_tail()}")
            time.sleep(0.01)
        return time.monotonic() - begun

    def stop(self, within: float = 20.0) -> int:
        """SIGTERM; returns the exit code."""
        self.terminate()
        return self.exit_code(within)

    def terminate(self) -> None:
        self._end_expected = True
        self.process.send_signal(signal.SIGTERM)

    def exit_code(self, within: float) -> int:
        return self.process.wait(timeout=within)

    def kill9(self) -> None:
        self._end_expected = True
        self.process.kill()
        self.process.wait()

    def restart(self, kill9: bool = False) -> float:
        if kill9:
            self.kill9()
        else:
            code = self.stop()
            assert code == 0, f"the daemon ended with {code} after SIGTERM"
        return self.start()

    def log(self, from_byte: int = 0) -> str:
        return self.log_path.read_bytes()[from_byte:].decode("utf-8", "replace")

    def log_tail(self, lines: int = 60) -> str:
        tail = self.log().splitlines()[-lines:]
        return "\n".join([f"--- the daemon's log, last {len(tail)} lines", *tail, "---"])

    def memory_bytes(self, kind: str = "VmRSS") -> int:
        """VmRSS is the resident memory now, VmHWM its peak."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(rf"^{kind}:\s+(\d+) kB", status, re.M).group(1)) * 1024

    def log_at_rest(self, within: float = 20.0) -> int:
        """Waits for the end of the start's own work, which logs; the log's length in bytes."""
        until = time.monotonic() + within
        ends = ("event=indexing_ended ", "event=scrub_finished ")
        while not all(end in self.log() for end in ends):
            assert time.monotonic() < until, "the indexer and the first scrub are still at work"
            time.sleep(0.02)
        return self.log_path.stat().st_size

    def upload_files(self) -> list[str]:
        """What lies in the upload folder: uploads in progress, or what they left behind."""
        uploads = self.data / "upload"
        return sorted(p.name for p in uploads.rglob("*") if p.is_file()) if uploads.exists() else []

    def upload_files_after_settling(self, within: float = 5.0) -> list[str]:
        """The same, once nothing is left or the time is over."""
        until = time.monotonic() + within
        while (left := self.upload_files()) and time.monotonic() < until:
            time.sleep(0.05)
        return left

    def blob_files(self) -> list[Path]:
        """The files of committed blobs: <cache>/<aa>/<bb>/<hex>/data (Kraken's layout)."""
        return sorted((self.data / "cache").glob("*/*/*/data"))

    def _ready(self, log_from: int) -> bool:
        listening = LISTENING.search(self.log(log_from))
        if listening is None:
            return False
        self.port = int(listening.group(1))
        probe = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            probe.request("GET", "/readiness")
            response = probe.getresponse()
            return response.status == 200 and response.read() == b"OK\n"
        except (OSError, http.client.HTTPException):
            return False
        finally:
            probe.close()

    def _remove(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill9()
        if os.environ.get("ORLOP_KEEP") == "1":
            print(f"kept: {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
