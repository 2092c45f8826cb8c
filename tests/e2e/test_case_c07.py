"""C07: sixteen clients push the same digest, half of them in each dialect, beside a small one."""

import multiprocessing
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from blob import KIB, MIB, Blob
from connection import Connection, request
from kraken_client import KrakenClient

pytestmark = pytest.mark.usefixtures("still_alive")

START_SECONDS_MAX = 0.2


def push_by_kraken(daemon, blob: Blob) -> int:
    """Every step may say 409, which is success; sent as Go does, watching for an early answer."""
    uploads = f"/namespace/team%2Fapp/blobs/{blob.digest}/uploads"
    with Connection(daemon.port, timeout=60) as connection:
        connection.send(request("POST", uploads))
        start = connection.answer()
    if start.status != 200:
        return start.status
    upload = f"{uploads}/{start.header('Location')}"
    for at in range(0, blob.size, 16 * MIB):
        part = blob.data[at:at + 16 * MIB]
        head = {"Content-Range": f"{at}-{at + len(part)}", "Content-Length": len(part)}
        with Connection(daemon.port, timeout=60) as connection:
            connection.send(request("PATCH", upload, head))
            connection.send_until_answered(part)
            patch = connection.answer()
        if patch.status != 200:
            return patch.status
    with Connection(daemon.port, timeout=60) as connection:
        connection.send(request("PUT", upload))
        return connection.answer().status


def push_by_put(daemon, blob: Blob) -> int:
    with Connection(daemon.port, timeout=60) as connection:
        connection.send(request("PUT", f"/cas/{blob.hex}", {"Content-Length": blob.size}))
        connection.send_until_answered(blob.data)
        return connection.answer().status


def push_small_ones(daemon, done, report) -> None:
    """In a process of its own: what it measures is the daemon and not this test's threads."""
    outcomes = []
    with KrakenClient(daemon) as client:
        while not done.is_set() or not outcomes:
            blob = Blob.random(KIB, f"small {len(outcomes)}")
            begun = time.monotonic()
            uid = client.begin(blob.digest)
            started = time.monotonic() - begun
            statuses = (client.patch(blob.digest, uid, 0, blob.data).status,
                        client.commit(blob.digest, uid).status)
            outcomes.append((started, time.monotonic() - begun, *statuses))
            time.sleep(0.1)
    report.send(outcomes)


@pytest.mark.limit(180)
def test_sixteen_clients_push_one_digest_and_each_of_them_succeeds(daemon, client):
    blob = Blob.random(64 * MIB)
    processes = multiprocessing.get_context("fork")
    done, (report, its_report) = processes.Event(), processes.Pipe(duplex=False)
    small = processes.Process(target=push_small_ones, args=(daemon, done, its_report))
    small.start()
    try:
        with ThreadPoolExecutor(16) as pool:
            pushes = [pool.submit(push, daemon, blob)
                      for _ in range(8) for push in (push_by_kraken, push_by_put)]
            statuses = [push.result() for push in pushes]
    finally:
        done.set()
    outcomes = report.recv() if report.poll(30) else []
    small.join()

    # 200: it is new (Kraken), or was there when the PUT came; 201: the PUT made it; 409: the upload
    # came too late.
    assert set(statuses) <= {200, 201, 409}, sorted(statuses)
    assert statuses.count(201) <= 1, "the blob can be new only once"
    client.assert_has(blob)
    big = [path for path in daemon.blob_files() if path.stat().st_size == blob.size]
    assert len(big) == 1
    assert daemon.upload_files_after_settling() == []

    assert outcomes, "the small client has died"
    assert {outcome[2:] for outcome in outcomes} == {(200, 200)}
    starts = sorted(outcome[0] for outcome in outcomes)
    print(f"{len(outcomes)} small uploads: start median {statistics.median(starts):.4f} s, "
          f"longest {starts[-1]:.4f} s; whole median "
          f"{statistics.median(outcome[1] for outcome in outcomes):.4f} s, longest "
          f"{max(outcome[1] for outcome in outcomes):.4f} s")
    # The median, because the 16 clients share the daemon's processors.
    assert statistics.median(starts) < START_SECONDS_MAX
