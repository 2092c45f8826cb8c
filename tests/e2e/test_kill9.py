"""kill -9 at random moments of a concurrent upload load: what was acknowledged is there, whole."""

import http.client
import os
import random
import threading
import time
from dataclasses import dataclass, field

import pytest

from blob import KIB, MIB, Blob
from daemon import FULL, Daemon
from kraken_client import KrakenClient

KILLS = 200 if FULL else 20
WORKERS = 8
READY_SECONDS_MAX = 5.0
# Older blobs are looked at again after each kill, but not all of them each time.
KEPT_BLOBS, SAMPLED_BLOBS = 200, 12


@dataclass(frozen=True)
class Recipe:
    """How to make a blob again: the tests keep no gigabytes in memory."""
    size: int
    seed: str

    def blob(self) -> Blob:
        return Blob.random(self.size, self.seed)


@dataclass
class Outcome:
    """What one load has seen before the daemon died under it."""
    acknowledged: list[Recipe] = field(default_factory=list)
    in_doubt: list[Recipe] = field(default_factory=list)
    uploads: list[tuple[str, str]] = field(default_factory=list)  # digest, upload id
    starts_in_doubt: int = 0
    faults: list[str] = field(default_factory=list)


class Load:
    """Workers that upload fresh blobs until the daemon is gone; half of them in each dialect."""

    def __init__(self, daemon: Daemon, seed: str):
        self.outcome = Outcome()
        self._daemon = daemon
        self._seed = seed
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._workers = [threading.Thread(target=self._work, args=(number,), daemon=True)
                         for number in range(WORKERS)]

    def run_until_kill9(self, seconds: float) -> Outcome:
        for worker in self._workers:
            worker.start()
        time.sleep(seconds)
        self._ending.set()  # Before the kill: from now on a failed request is no surprise.
        self._daemon.kill9()
        for worker in self._workers:
            worker.join(timeout=60)
            assert not worker.is_alive()
        return self.outcome

    def _work(self, number: int) -> None:
        chance = random.Random(f"{self._seed}/{number}")
        upload = self._by_kraken if number % 2 else self._by_put
        with KrakenClient(self._daemon) as client:
            for count in range(10**6):
                size = int(2 ** chance.uniform(10, 23))  # 1 KiB to 8 MiB
                recipe = Recipe(size, f"{self._seed}/{number}/{count}")
                try:
                    fault = upload(client, recipe.blob(), chance)
                except (OSError, http.client.HTTPException) as lost:
                    fault = None if self._ending.is_set() else f"{type(lost).__name__}: {lost}"
                    with self._lock:
                        self.outcome.in_doubt.append(recipe)
                        self.outcome.faults += [fault] if fault else []
                    return
                with self._lock:
                    if fault:
                        self.outcome.faults.append(fault)
                    else:
                        self.outcome.acknowledged.append(recipe)

    def _by_put(self, client: KrakenClient, blob: Blob, _) -> str | None:
        answer = client.request("PUT", f"/cas/{blob.hex}", blob.data)
        return None if answer.status == 201 else f"put: {answer}"

    def _by_kraken(self, client: KrakenClient, blob: Blob, chance: random.Random) -> str | None:
        try:
            start = client.start(blob.digest)
        except (OSError, http.client.HTTPException):
            with self._lock:
                self.outcome.starts_in_doubt += 1  # There may be an upload that nobody knows of.
            raise
        if start.status != 200:
            return f"start: {start}"
        uid = start.header("Location")
        with self._lock:
            self.outcome.uploads.append((blob.digest, uid))
        chunk = chance.choice([64 * KIB, MIB, 8 * MIB])
        offsets = list(range(0, blob.size, chunk))
        if chance.random() < 0.2:
            chance.shuffle(offsets)
        for at in offsets:
            patch = client.patch(blob.digest, uid, at, blob.data[at:at + chunk])
            if patch.status != 200:
                return f"patch: {patch}"
        commit = client.commit(blob.digest, uid)
        return None if commit.status == 200 else f"commit: {commit}"


def settle_doubt(client: KrakenClient, blob: Blob) -> str:
    """A blob without an answer is absent or whole, and uploading it again works."""
    got = client.get(blob.digest)
    if got.status == 200:
        client.assert_has(blob)
    else:
        assert got.status == 404, got
        client.assert_lacks(blob)
    assert client.upload(blob, chunk=MIB) == (409 if got.status == 200 else 200)
    client.assert_has(blob)
    return "complete" if got.status == 200 else "absent"


@pytest.mark.limit(3600 if FULL else 240)
def test_kill9_loses_nothing_that_was_acknowledged():
    seed = os.environ.get("ORLOP_SEED") or str(random.SystemRandom().randrange(10**9))
    print(f"ORLOP_SEED={seed} repeats the sizes and the moments of this run")
    chance = random.Random(seed)
    kept: list[Recipe] = []
    digests_ever: set[str] = set()
    unknown_uploads_max = 0
    doubts = {"absent": 0, "complete": 0}
    acknowledged = 0
    slowest = 0.0
    with Daemon() as daemon:
        for kill in range(KILLS):
            outcome = Load(daemon, f"{seed}/{kill}").run_until_kill9(chance.uniform(0.02, 0.7))
            assert outcome.faults == [], f"before kill {kill}"
            ready = daemon.start()
            slowest = max(slowest, ready)
            assert ready < READY_SECONDS_MAX, f"ready {ready:.1f} s after kill {kill}"
            unknown_uploads_max += outcome.starts_in_doubt
            acknowledged += len(outcome.acknowledged)
            with KrakenClient(daemon) as client:
                for recipe in outcome.acknowledged:
                    digests_ever.add(recipe.blob().hex)
                    client.assert_has(recipe.blob())
                for recipe in chance.sample(kept, min(SAMPLED_BLOBS, len(kept))):
                    client.assert_has(recipe.blob())
                for recipe in outcome.in_doubt:
                    digests_ever.add(recipe.blob().hex)
                    doubts[settle_doubt(client, recipe.blob())] += 1
                for digest, uid in outcome.uploads:
                    cancelled = client.cancel(digest, uid).status
                    assert cancelled in (200, 202, 204, 404), cancelled
                kept += outcome.acknowledged + outcome.in_doubt
                while len(kept) > KEPT_BLOBS:
                    victim = kept.pop(chance.randrange(len(kept)))
                    assert client.delete(victim.blob().digest).status == 202
        with KrakenClient(daemon) as client:
            for recipe in kept:
                client.assert_has(recipe.blob())
        uploads_left = {name.removesuffix(".session") for name in daemon.upload_files()}
        assert len(uploads_left) <= unknown_uploads_max, sorted(uploads_left)
        assert {path.parent.name for path in daemon.blob_files()} <= digests_ever
    print(f"{KILLS} kills, {acknowledged} acknowledged blobs, in doubt {doubts}, "
          f"slowest start {slowest:.2f} s")
    assert acknowledged > KILLS, "the load was too light to mean anything"


@pytest.mark.limit(120)
def test_kill9_right_after_the_answer_of_a_commit():
    """The narrowest case: nothing happens between the answer and the kill."""
    with Daemon() as daemon:
        blobs = []
        for number in range(6):
            blob = Blob.random(8 * MIB if number % 2 else 10, f"right after {number}")
            client = KrakenClient(daemon)
            if number % 3:
                assert client.upload(blob) == 200
            else:
                assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
            daemon.kill9()
            client.close()
            blobs.append(blob)
            assert daemon.start() < READY_SECONDS_MAX
            with KrakenClient(daemon) as client:
                for each in blobs:
                    client.assert_has(each)
        assert daemon.upload_files_after_settling() == []
