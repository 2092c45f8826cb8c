"""Case C27: a blob that is damaged on the disk, in every way, with and without a restart."""

import http.client
import shutil
import time
from pathlib import Path

import pytest

from blob import MIB, PIECE_LENGTH, Blob
from daemon import Daemon
from kraken_client import KrakenClient

SIZE = 8 * MIB


def flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 0xff]))


def zero(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(bytes(SIZE))


def cut(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        file.truncate(size)


DAMAGES = {
    "a byte flipped in the first piece": lambda path: flip(path, 4_000_000),
    "a byte flipped in the last piece": lambda path: flip(path, SIZE - 1),
    "zeroed at the same size": zero,
    "truncated to half": lambda path: cut(path, SIZE // 2),
    "emptied": lambda path: cut(path, 0),
    "deleted": lambda path: path.unlink(),
}


def download(client: KrakenClient, blob: Blob) -> tuple[int | None, bytes]:
    """The status and the body; no status if the answer did not end as it should."""
    try:
        answer = client.get(blob.digest)
    except http.client.IncompleteRead as broken:
        return None, broken.partial
    return answer.status, answer.body


def stored_blob(daemon: Daemon, seed: object) -> tuple[Blob, Path]:
    blob = Blob.random(SIZE, seed)
    with KrakenClient(daemon) as client:
        assert client.upload(blob) == 200
    return blob, daemon.data / "cache" / blob.hex[:2] / blob.hex[2:4] / blob.hex / "data"


@pytest.mark.parametrize("restart", ["running", "restart between", "kill -9 between"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_bad_bytes_never_end_well_and_a_push_repairs_the_blob(daemon, damage, restart):
    blob, path = stored_blob(daemon, damage + restart)
    log_from = len(daemon.log().encode())
    DAMAGES[damage](path)
    if restart != "running":
        daemon.restart(kill9=restart.startswith("kill"))

    with KrakenClient(daemon) as client:
        status, body = download(client, blob)
        assert status in (None, 404), f"{status} with {len(body)} bytes"
        if status is None:
            assert len(body) <= SIZE - PIECE_LENGTH, "bytes of the bad piece went out"
            assert blob.data.startswith(body), "wrong bytes"

        client.assert_lacks(blob)
        evidence = sorted(name.name for name in path.parent.glob("data*")) \
            if path.parent.exists() else []
        if damage == "deleted":
            assert evidence == []
        else:
            assert len(evidence) == 1 and evidence[0].startswith("data.quarantined-"), evidence
            quarantined = [line for line in daemon.log(log_from).splitlines()
                           if "event=blob_quarantined" in line]
            assert len(quarantined) == 1 and blob.digest in quarantined[0], quarantined

        assert client.upload(blob) == 200, "the repair was refused"
        client.assert_has(blob)
        daemon.restart()
    with KrakenClient(daemon) as client:
        client.assert_has(blob)


@pytest.mark.parametrize("damage", ["a byte flipped in the first piece", "truncated to half"])
def test_the_first_to_notice_may_be_a_push_or_whoever_asks_for_the_metainfo(daemon, damage):
    pushed, pushed_path = stored_blob(daemon, "pushed")
    asked, asked_path = stored_blob(daemon, "asked")
    put, put_path = stored_blob(daemon, "put")
    for path in (pushed_path, asked_path, put_path):
        DAMAGES[damage](path)

    with KrakenClient(daemon) as client:
        assert client.upload(pushed) == 200, "the repair was refused"
        client.assert_has(pushed)
        # Metainfo is answered from memory for a second after somebody looked at the file.
        time.sleep(1.1)
        assert client.metainfo(asked.digest).status == 404
        client.assert_lacks(asked)
        assert client.request("PUT", f"/cas/{put.hex}", body=put.data).status == 201
        client.assert_has(put)


class WithoutOverride(Daemon):
    """Runs as whoever runs the tests, but as root, too, bound by the modes of files."""

    def command(self, *args, **kwargs):
        return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps",
                "-dac_override,-dac_read_search", "--", *super().command(*args, **kwargs)]


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no setpriv to give up root's override")
@pytest.mark.parametrize("restart", [False, True])
def test_an_unreadable_file_is_an_error_and_never_a_blob(restart):
    with WithoutOverride() as daemon:
        blob, path = stored_blob(daemon, f"unreadable {restart}")
        path.chmod(0)
        if restart:
            daemon.restart()
        with KrakenClient(daemon) as client:
            for answer in (client.get(blob.digest), client.stat(blob.digest),
                           client.metainfo(blob.digest), client.start(blob.digest)):
                assert answer.status == 404 or answer.status >= 500, answer.status
            path.chmod(0o644)
            client.assert_has(blob)
