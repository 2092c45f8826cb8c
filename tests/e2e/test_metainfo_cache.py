"""Metainfo is answered from memory, on every reactor, and never when the blob is not what it was."""

import os
import shutil
import time
from contextlib import ExitStack

import pytest

from blob import KIB, Blob
from daemon import Daemon
from kraken_client import KrakenClient

CLIENTS = 8


@pytest.fixture
def clients(daemon):
    """On connections that are kept, some on each reactor."""
    with ExitStack() as stack:
        yield [stack.enter_context(KrakenClient(daemon)) for _ in range(CLIENTS)]


def answers(clients: list[KrakenClient], blob: Blob) -> set[tuple[int, bytes]]:
    found = set()
    for client in clients:
        answer = client.metainfo(blob.digest)
        found.add((answer.status, answer.body if answer.status == 200 else b""))
    return found


def test_a_deletion_is_seen_by_the_next_request_on_every_connection(clients):
    blob = Blob.random(100 * KIB, "deleted")
    for _ in range(20):
        assert clients[0].upload(blob) == 200
        assert answers(clients, blob) == {(200, blob.metainfo())}
        assert clients[1].delete(blob.digest).status == 202
        assert answers(clients, blob) == {(404, b"")}


def test_a_new_piece_length_is_seen_by_the_next_request_on_every_connection(clients):
    blob = Blob.random(100 * KIB, "cut anew")
    assert clients[0].upload(blob) == 200
    for piece_length in (10 * KIB, 20 * KIB, 7, 50 * KIB):
        path = f"/internal/blobs/{blob.digest}/metainfo?piece_length={piece_length}"
        assert clients[2].request("POST", path).status == 200
        assert answers(clients, blob) == {(200, blob.metainfo(piece_length))}


def test_a_blob_that_is_removed_by_hand_has_no_metainfo_after_a_second(daemon, clients):
    blob = Blob.random(100 * KIB, "by hand")
    assert clients[0].upload(blob) == 200
    assert answers(clients, blob) == {(200, blob.metainfo())}
    shutil.rmtree(daemon.data / "cache" / blob.hex[:2] / blob.hex[2:4] / blob.hex)
    time.sleep(1.1)
    assert answers(clients, blob) == {(404, b"")}


def test_what_one_request_notices_every_metainfo_request_knows(daemon, clients):
    blob = Blob.random(100 * KIB, "noticed")
    assert clients[0].upload(blob) == 200
    assert answers(clients, blob) == {(200, blob.metainfo())}
    os.truncate(daemon.data / "cache" / blob.hex[:2] / blob.hex[2:4] / blob.hex / "data", 10)
    assert clients[0].start(blob.digest).status == 200, "a push was told that it is here"
    assert answers(clients, blob) == {(404, b"")}


@pytest.mark.parametrize("bytes_max", ["0", "20KB", "64MB"])
def test_any_size_of_the_cache_gives_the_same_answers(bytes_max):
    blobs = [Blob.random(size, f"sizes {size}") for size in range(1, 200)]
    with Daemon({"store.metainfo_cache_bytes_max": bytes_max}) as daemon, \
            KrakenClient(daemon) as client:
        for blob in blobs:
            assert client.upload(blob) == 200
        for _ in range(3):
            for blob in blobs:
                assert client.metainfo(blob.digest).body == blob.metainfo()
        daemon.restart()
        with KrakenClient(daemon) as again:
            for blob in blobs + blobs:
                assert again.metainfo(blob.digest).body == blob.metainfo()
