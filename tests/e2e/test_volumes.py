"""Shards that an older Kraken origin put on volumes by links: read, written, recovered, refused."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from blob import KIB, MIB, Blob
from daemon import Daemon, DaemonDied
from kraken_client import KrakenClient
from small_disk import skip_without_mounts

# Kraken's links are in upper case and digests in lower case: only these shards go over a link.
LINKED = [f"{number:02d}" for number in range(100)]


def blob_in(linked: bool, size: int, seed: object) -> Blob:
    """A random blob whose shard lies on the volume, or does not."""
    attempt = 0
    while True:
        blob = Blob.random(size, f"{seed}/{attempt}")
        if (blob.hex[:2] in LINKED) == linked:
            return blob
        attempt += 1


class VolumeDaemon(Daemon):
    """A Daemon with one volume: a plain folder, or a tmpfs in a mount namespace that outlives
    restarts of the daemon."""

    def __init__(self, own_filesystem: bool):
        if own_filesystem:
            skip_without_mounts()
        super().__init__()
        self.own_filesystem = own_filesystem
        self._holder: subprocess.Popen | None = None
        self.location = self.folder / "volume"
        self.location.mkdir()
        if own_filesystem:
            script = 'mount -t tmpfs -o size=64m orlop-test "$0" && echo ready && exec sleep 600'
            self._holder = subprocess.Popen(
                ["unshare", "-m", "--propagation", "private", "--", "sh", "-c", script,
                 str(self.location)], stdout=subprocess.PIPE)
            assert self._holder.stdout.readline() == b"ready\n"
        self.settings["castore.volumes"] = f"[{{location: {self.location}}}]"
        for shard in LINKED:
            (self.volume / "cache" / shard).mkdir(parents=True)
            (self.data / "cache").mkdir(parents=True, exist_ok=True)
            (self.data / "cache" / shard).symlink_to(self.location / "cache" / shard)

    @property
    def volume(self) -> Path:
        """The volume as it is seen from here."""
        if self._holder is None:
            return self.location
        return Path(f"/proc/{self._holder.pid}/root{self.location}")

    @property
    def uploads_of_volume(self) -> Path:
        return self.volume / "cache.upload" if self.own_filesystem else self.data / "upload"

    def command(self, port: int | None = None, data: Path | None = None) -> list[str]:
        command = super().command(port, data)
        if self._holder is None:
            return command
        return ["nsenter", f"--mount=/proc/{self._holder.pid}/ns/mnt", "--", *command]

    def file_of(self, blob: Blob) -> Path:
        return self.volume / "cache" / blob.hex[:2] / blob.hex[2:4] / blob.hex / "data"

    def _remove(self) -> None:
        super()._remove()
        if self._holder is not None:
            self._holder.kill()
            self._holder.wait()


@pytest.fixture(params=["folder", "filesystem"])
def prepared(request, hard_time_out):
    """Not started yet."""
    daemon = VolumeDaemon(request.param == "filesystem")
    yield daemon
    daemon._remove()


def request(daemon, method: str, path: str, body: bytes | None = None):
    with KrakenClient(daemon) as client:
        return client.request(method, path, body=body)


def read(daemon, blob: Blob):
    return request(daemon, "GET", f"/cas/{blob.hex}")


def test_blobs_of_a_linked_shard_go_to_the_volume_and_come_back_from_it(prepared):
    with prepared as daemon, KrakenClient(daemon) as client:
        by_kraken, by_put, by_post = (blob_in(True, 300 * KIB, way) for way in range(3))
        at_home = blob_in(False, 300 * KIB, "home")
        assert client.upload(by_kraken) == 200
        assert client.upload(at_home) == 200
        assert request(daemon, "PUT", f"/cas/{by_put.hex}", body=by_put.data).status == 201
        # Its shard is only known once all bytes are here, on the cache folder's file system.
        assert request(daemon, "POST", "/cas", body=by_post.data).status == 201

        for kill9 in (False, True):
            for blob in (by_kraken, by_put, by_post):
                assert daemon.file_of(blob).read_bytes() == blob.data
                assert read(daemon, blob).body == blob.data
            assert read(daemon, at_home).body == at_home.data
            assert not daemon.file_of(at_home).exists()
            assert list(daemon.uploads_of_volume.iterdir()) == []
            assert daemon.upload_files() == []
            daemon.restart(kill9)

        listed = request(daemon, "GET", "/cas").body.decode()
        for blob in (by_kraken, by_put, by_post, at_home):
            assert blob.hex in listed
            assert request(daemon, "DELETE", f"/cas/{blob.hex}").status == 204
            assert read(daemon, blob).status == 404
        assert not daemon.file_of(by_put).exists()
        assert (daemon.data / "cache" / "07").is_symlink()


def test_blobs_that_kraken_left_on_the_volume_are_served(prepared):
    blob = blob_in(True, 300 * KIB, "old")
    prepared.file_of(blob).parent.mkdir(parents=True)
    prepared.file_of(blob).write_bytes(blob.data)

    with prepared as daemon:
        assert read(daemon, blob).body == blob.data


def test_an_upload_of_a_linked_shard_survives_a_restart_and_goes_on(prepared):
    blob = blob_in(True, 2 * MIB, "upload")
    with prepared as daemon, KrakenClient(daemon) as client:
        uid = client.begin(blob.digest)
        assert client.patch(blob.digest, uid, 0, blob.data[:MIB]).status == 200
        names = {file.name for file in daemon.uploads_of_volume.iterdir()}
        assert names == {uid, f"{uid}.session"}

        daemon.restart(kill9=True)
        client.close()
        assert client.patch(blob.digest, uid, MIB, blob.data[MIB:]).status == 200
        assert client.commit(blob.digest, uid).status == 200

        assert daemon.file_of(blob).read_bytes() == blob.data
        assert list(daemon.uploads_of_volume.iterdir()) == []


def test_a_full_volume_refuses_its_own_shards_and_no_others(hard_time_out):
    with VolumeDaemon(own_filesystem=True) as daemon:
        with (daemon.volume / "of-somebody-else").open("wb") as file:
            disk = os.statvfs(daemon.volume)
            os.posix_fallocate(file.fileno(), 0, disk.f_bavail * disk.f_frsize - MIB)
        far, near = blob_in(True, 300 * KIB, "far"), blob_in(False, 300 * KIB, "near")

        refused = request(daemon, "PUT", f"/cas/{far.hex}", body=far.data)
        assert (refused.status, refused.header("Retry-After") is not None) == (503, True)
        refused = request(daemon, "POST", "/cas", body=far.data)
        assert refused.status == 503
        assert request(daemon, "PUT", f"/cas/{near.hex}", body=near.data).status == 201

        (daemon.volume / "of-somebody-else").unlink()
        assert request(daemon, "POST", "/cas", body=far.data).status == 201
        assert daemon.upload_files() == []
        assert list(daemon.uploads_of_volume.iterdir()) == []


@pytest.mark.parametrize("fault", ["elsewhere", "dangling", "not configured"])
def test_a_link_that_leads_anywhere_else_stops_the_start_and_is_named(fault, hard_time_out):
    daemon = VolumeDaemon(own_filesystem=False)
    try:
        link = daemon.data / "cache" / "07"
        target = daemon.location / "cache" / "07"
        if fault == "elsewhere":
            target = daemon.folder / "elsewhere"
            target.mkdir()
            link.unlink()
            link.symlink_to(target)
        if fault == "dangling":
            shutil.rmtree(target)
        if fault == "not configured":
            del daemon.settings["castore.volumes"]
            for shard in LINKED:
                if shard != "07":
                    (daemon.data / "cache" / shard).unlink()

        with pytest.raises(DaemonDied, match="exit code 1"):
            daemon.start()

        assert f"the shard {link} is a link to {target}" in daemon.log()
    finally:
        daemon._remove()


def test_below_the_shards_no_link_is_followed(daemon):
    blob = blob_in(False, 300 * KIB, "inner")
    outside = daemon.folder / "outside"
    (outside / blob.hex).mkdir(parents=True)
    (outside / blob.hex / "data").write_bytes(blob.data)
    (daemon.data / "cache" / blob.hex[:2]).mkdir()
    (daemon.data / "cache" / blob.hex[:2] / blob.hex[2:4]).symlink_to(outside)

    assert read(daemon, blob).status == 404
    put = request(daemon, "PUT", f"/cas/{blob.hex}", body=blob.data)
    assert put.status >= 500
    assert request(daemon, "DELETE", f"/cas/{blob.hex}").status == 404

    assert (outside / blob.hex / "data").read_bytes() == blob.data
    assert daemon.upload_files() == []


def test_upload_and_cache_folder_on_two_mounts_of_one_file_system_are_refused(hard_time_out):
    skip_without_mounts()
    daemon = Daemon()
    try:
        (daemon.data / "cache").mkdir(parents=True)
        script = 'mount --bind "$0" "$0" && exec "$@"'
        command = ["unshare", "-m", "--propagation", "private", "--", "sh", "-c", script,
                   str(daemon.data / "cache"), *daemon.command()]
        ended = subprocess.run(command, capture_output=True, timeout=20, cwd=daemon.folder)
        assert ended.returncode == 1
        assert b"on different file systems or mounts" in ended.stderr
    finally:
        daemon._remove()
