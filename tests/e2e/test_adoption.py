"""A Kraken cache folder in place: served at once where a sidecar says how, and never wrongly."""

import http.client
import re
import socket
import threading
import time
from email.parser import BytesParser

import pytest

from blob import KIB, MIB, PIECE_LENGTH, Blob
from connection import Connection, request
from kraken_client import KrakenClient
from kraken_folder import put_blob

SIZE = 3 * PIECE_LENGTH + 12345


def logged(daemon, event: str, blob: Blob) -> int:
    return sum(f"event={event} " in line and blob.digest in line
               for line in daemon.log().splitlines())


def wait_until_verified(daemon, blob: Blob) -> None:
    until = time.monotonic() + 20
    while not logged(daemon, "blob_verified", blob):
        assert time.monotonic() < until, "never verified"
        time.sleep(0.02)


def flip(path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


def test_blobs_with_a_sidecar_are_served_whole_and_verified_behind(daemon, client):
    for size in (0, 1, 64 * KIB, 64 * KIB + 1, PIECE_LENGTH, SIZE):
        blob = Blob.random(size, "whole")
        put_blob(daemon.data / "cache", blob, metainfo=True)
        client.assert_has(blob)
        wait_until_verified(daemon, blob)
        client.assert_has(blob)
        assert logged(daemon, "blob_verified", blob) == 1


def test_blobs_without_a_good_sidecar_are_hashed_and_served(daemon, client):
    none = Blob.random(SIZE, "none")
    put_blob(daemon.data / "cache", none)
    broken = Blob.random(SIZE, "broken")
    (put_blob(daemon.data / "cache", broken) / "_torrentmeta").write_bytes(b"{")
    others = Blob.random(SIZE, "others")
    (put_blob(daemon.data / "cache", others) / "_torrentmeta").write_bytes(none.metainfo())
    for blob in (none, broken, others):
        client.assert_has(blob)


def test_the_metainfo_of_a_sidecar_is_kept_with_its_piece_length(daemon, client):
    blob = Blob.random(SIZE, "piece length")
    put_blob(daemon.data / "cache", blob, metainfo=True, piece_length=MIB)
    assert client.metainfo(blob.digest).body == blob.metainfo(MIB)
    assert client.get(blob.digest).body == blob.data
    wait_until_verified(daemon, blob)
    assert client.metainfo(blob.digest).body == blob.metainfo(MIB)
    daemon.restart()
    with KrakenClient(daemon) as again:
        assert again.metainfo(blob.digest).body == blob.metainfo(MIB)


def ranges_of(body: bytes, content_type: str) -> list[bytes]:
    whole = BytesParser().parsebytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
    return [part.get_payload(decode=True) for part in whole.get_payload()]


def test_ranges_of_an_unverified_blob_are_exact(daemon, client):
    wanted = [(0, 0), (5, 9), (PIECE_LENGTH - 2, PIECE_LENGTH + 1), (SIZE - 3, SIZE - 1)]
    for first, last in wanted:
        blob = Blob.random(SIZE, f"range {first}")
        put_blob(daemon.data / "cache", blob, metainfo=True)
        answer = client.get(blob.digest, headers={"Range": f"bytes={first}-{last}"})
        assert (answer.status, answer.body) == (206, blob.data[first:last + 1])
    blob = Blob.random(SIZE, "ranges")
    put_blob(daemon.data / "cache", blob, metainfo=True)
    spec = ",".join(f"{first}-{last}" for first, last in wanted)
    answer = client.get(blob.digest, headers={"Range": f"bytes={spec}"})
    assert answer.status == 206
    parts = ranges_of(answer.body, answer.header("Content-Type"))
    assert parts == [blob.data[0:1] if (a, b) == (0, 0) else blob.data[a:b + 1] for a, b in wanted]


def test_what_goes_out_before_a_bad_piece_is_right_and_the_answer_never_ends_well(daemon):
    # Large, so that the client reads before the whole file has been hashed behind it.
    blob = Blob.random(48 * MIB + 7, "cut")
    folder = put_blob(daemon.data / "cache", blob, metainfo=True)
    flip(folder / "data", blob.size - 3)
    with Connection(daemon.port) as connection:
        connection.send(request("GET", f"/cas/{blob.hex}"))
        received = bytearray()
        try:
            while data := connection.socket.recv(1 << 20):
                received += data
        except ConnectionResetError:
            pass
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    assert head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 404")), head
    if head.startswith(b"HTTP/1.1 200"):
        assert f"Content-Length: {blob.size}".encode() in head
        assert len(body) <= blob.size - blob.size % PIECE_LENGTH
        assert blob.data.startswith(body)
    with KrakenClient(daemon) as client:
        client.assert_lacks(blob)
        assert list(folder.glob("data.quarantined-*"))
        assert client.upload(blob) == 200
        client.assert_has(blob)


def test_a_range_beside_the_bad_piece_is_served_or_refused_but_right(daemon, client):
    blob = Blob.random(48 * MIB, "beside")
    folder = put_blob(daemon.data / "cache", blob, metainfo=True)
    flip(folder / "data", 40 * MIB)
    good = client.get(blob.digest, headers={"Range": "bytes=10-19"})
    assert good.status in (206, 404)
    if good.status == 206:
        assert good.body == blob.data[10:20]
    try:
        bad = client.get(blob.digest, headers={"Range": f"bytes={40 * MIB + 5}-{40 * MIB + 9}"})
        assert bad.status == 404
    except (http.client.IncompleteRead, http.client.RemoteDisconnected):
        pass
    client.assert_lacks(blob)


def test_a_sidecar_with_wrong_sums_costs_time_and_not_the_blob(daemon, client):
    blob, other = Blob.random(SIZE, "right"), Blob.random(SIZE, "other")
    folder = put_blob(daemon.data / "cache", blob)
    sums = re.search(rb'"PieceSums":\[[^]]*\]', other.metainfo()).group()
    lie = re.sub(rb'"PieceSums":\[[^]]*\]', sums, blob.metainfo())
    (folder / "_torrentmeta").write_bytes(lie)
    answer = client.get(blob.digest)
    assert (answer.status, answer.body) == (200, blob.data)
    client.assert_has(blob)
    assert not list(folder.glob("data.quarantined-*"))


@pytest.mark.parametrize("touched", [False, True])
@pytest.mark.parametrize("metainfo", [False, True])
def test_a_blob_that_kraken_has_yet_to_write_back_is_not_removed(daemon, client, metainfo, touched):
    blob = Blob.random(SIZE, f"persist {metainfo} {touched}")
    put_blob(daemon.data / "cache", blob, metainfo=metainfo, persist=True)
    if touched:
        client.assert_has(blob)
    answer = client.delete(blob.digest)
    assert answer.status == 500 and answer.body.endswith(b": file is persisted"), answer
    client.assert_has(blob)
    daemon.restart()
    with KrakenClient(daemon) as again:
        assert again.delete(blob.digest).status == 500
        again.assert_has(blob)
    free = Blob.random(SIZE, f"free {metainfo} {touched}")
    put_blob(daemon.data / "cache", free, metainfo=metainfo, persist=False)
    with KrakenClient(daemon) as again:
        assert again.delete(free.digest).status == 202
        again.assert_lacks(free)


def test_a_push_of_an_unverified_blob_is_answered_by_its_bytes(daemon, client):
    good, bad = Blob.random(SIZE, "good"), Blob.random(SIZE, "bad")
    put_blob(daemon.data / "cache", good, metainfo=True)
    flip(put_blob(daemon.data / "cache", bad, metainfo=True) / "data", SIZE // 2)
    assert client.start(good.digest).status == 409
    assert client.upload(bad) == 200
    client.assert_has(bad)


def test_many_readers_of_one_unverified_blob_all_get_its_bytes(daemon):
    blob = Blob.random(24 * MIB, "many")
    put_blob(daemon.data / "cache", blob, metainfo=True)
    bodies: list[bytes] = []

    def read() -> None:
        with KrakenClient(daemon) as client:
            bodies.append(client.get(blob.digest).body)

    threads = [threading.Thread(target=read) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(bodies) == 16
    assert all(body == blob.data for body in bodies)
    assert logged(daemon, "blob_adopted", blob) == 1


def test_slow_readers_of_unverified_blobs_hold_bounded_memory_and_stop_nobody(daemon, client):
    blobs = [Blob.random(20 * MIB, f"slow {number}") for number in range(4)]
    for blob in blobs:
        put_blob(daemon.data / "cache", blob, metainfo=True)
    before = daemon.memory_bytes()
    connections = []
    for number in range(100):
        connection = Connection(daemon.port)
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.send(request("GET", f"/cas/{blobs[number % 4].hex}"))
        connections.append(connection)
    client.assert_has(blobs[0])
    assert daemon.memory_bytes("VmHWM") - before < 400 * MIB
    for connection in connections:
        connection.close()
    for blob in blobs:
        client.assert_has(blob)
