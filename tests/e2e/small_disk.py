"""A daemon whose data folder is a tmpfs of its own, so small that it gets full.

The tmpfs is mounted in a mount namespace that only the daemon's process is in: nothing stays behind
when it ends, however it ends. The test sees the folder through /proc.
"""

import os
import shutil
import subprocess
import time
from functools import cache
from pathlib import Path

import pytest

from daemon import Daemon

MOUNT = 'mount -t tmpfs -o "$0" orlop-test "$1" && shift && exec "$@"'
NEW_NAMESPACE = ["unshare", "-m", "--propagation", "private", "--", "sh", "-c", MOUNT]


@cache
def why_not() -> str | None:
    """Why this machine cannot mount; None if it can."""
    if shutil.which("unshare") is None:
        return "there is no unshare(1)"
    tried = subprocess.run([*NEW_NAMESPACE, "size=1m", "/mnt", "true"], capture_output=True)
    return None if tried.returncode == 0 else f"no mounts here: {tried.stderr.decode().strip()}"


def skip_without_mounts() -> None:
    if reason := why_not():
        pytest.skip(reason)


class SmallDisk(Daemon):
    """A Daemon on a tmpfs with these options. A restart begins with an empty one."""

    def __init__(self, mount_options: str, settings: dict[str, str] | None = None,
                 arguments: list[str] | None = None):
        skip_without_mounts()
        self._mount_options = mount_options
        super().__init__(settings, arguments)
        self._where = self.folder / "data"
        self._where.mkdir()

    @property
    def data(self) -> Path:
        """The daemon's folder, as it is seen from here while the daemon lives."""
        return Path(f"/proc/{self.process.pid}/root{self._where}")

    @data.setter
    def data(self, _: Path) -> None:
        pass  # Daemon's own idea of it, which is right inside the namespace alone.

    def command(self, port: int | None = None, data: Path | None = None) -> list[str]:
        return [*NEW_NAMESPACE, self._mount_options, str(self._where),
                *super().command(port, data or self._where)]

    def free_bytes(self) -> int:
        disk = os.statvfs(self.data)
        return disk.f_bavail * disk.f_frsize

    def used_bytes(self) -> int:
        disk = os.statvfs(self.data)
        return (disk.f_blocks - disk.f_bfree) * disk.f_frsize

    def free_inodes(self) -> int:
        return os.statvfs(self.data).f_favail

    def uploads_gone_within(self, seconds: float) -> bool:
        return self.upload_files_after_settling(seconds) == []

    def fill_up(self, leave: int = 0) -> Path:
        """Takes what is free, all but `leave` bytes, as somebody else's file."""
        path = self.data / "of-somebody-else"
        with path.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, self.free_bytes() - leave))
        return path

    def writes_again_within(self, seconds: float) -> bool:
        """Readiness is OK, which it is not while the database cannot be written."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self._ready(0):
                return True
            time.sleep(0.1)
        return False
