"""Kraken's agents download over the peer port: scripted, against the real daemon."""

import hashlib
import socket
import struct
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from agent import (ANNOUNCE, BITFIELD, CANCEL, COMPLETE, ERROR, PAYLOAD, REQUEST, Agent, bitset,
                   fields, frame, message, number, request, text)
from blob import EMPTY, KIB, MIB, Blob
from daemon import Daemon, DaemonDied, free_port
from kraken_client import KrakenClient
from kraken_folder import put_blob

@pytest.fixture
def seeder(request):
    """A daemon with a peer port: `daemon.peer_port`."""
    settings = request.node.get_closest_marker("settings")
    port = free_port()
    with Daemon(settings.args[0] if settings else None,
                ["--peer-ip", "127.0.0.1", "--peer-port", str(port)]) as running:
        running.peer_port = port
        yield running


def put(daemon: Daemon, blob: Blob, piece_length: int | None = None) -> bytes:
    """Stores it; its metainfo."""
    with KrakenClient(daemon) as client:
        assert client.upload(blob) in (200, 409)
        if piece_length:
            path = f"/internal/blobs/{blob.digest}/metainfo?piece_length={piece_length}"
            assert client.request("POST", path).status == 200
        return client.request("GET", f"/internal/namespace/any/blobs/{blob.digest}/metainfo").body


def agent(daemon: Daemon, blob: Blob, metainfo: bytes, name: object = 0, **more) -> Agent:
    return Agent(daemon.peer_port, blob, metainfo, name, **more)


def descriptors(daemon: Daemon) -> int:
    return len(list(Path(f"/proc/{daemon.pid}/fd").iterdir()))


def test_the_conversation_of_the_reference_byte_by_byte(seeder):
    """kraken-p2p.md, section 6, but for our peer id, which hashes another port."""
    blob = Blob(b"abcdefghij")
    with agent(seeder, blob, put(seeder, blob, 4), "127.0.0.1:16001") as one:
        assert one.infohash == "77aa22e0df923dbdd7a80296663ffe0af9d76719"
        hello = one.handshake(bitfield=bitset(3))
        assert hello[:8] == bytes.fromhex("000000b91ab60112") and len(hello) == 189
        one.socket.sendall(hello)
        self_id = hashlib.sha1(f"127.0.0.1:{seeder.peer_port}".encode()).hexdigest()
        expected = frame(text(3, text(2, one.infohash) + text(3, blob.hex) + text(4, self_id)
                              + text(5, bytes.fromhex("00000000000000030000000000000007"))))
        assert len(expected) == 175
        assert one.read(175) == expected
        one.socket.sendall(bytes.fromhex("00000006100122022004" "00000008100122041001" "2004"
                                         "00000008100122041002" "2002"))
        payloads = ["0000000610022a022004" "61626364", "0000000810022a0410012004" "65666768",
                    "0000000810022a0410022002" "696a"]
        expected = bytes.fromhex("".join(payloads))
        assert one.read(len(expected)) == expected


@pytest.mark.parametrize("size", [1, 4 * MIB, 4 * MIB + 1, 12 * MIB, 30 * MIB - 1])
def test_a_blob_of_any_size_comes_whole(seeder, size):
    blob = Blob.random(size, "whole")
    with agent(seeder, blob, put(seeder, blob)) as one:
        hello = one.greet()
        assert hello[2].decode() == one.infohash and hello[3].decode() == blob.hex
        with KrakenClient(seeder) as client:
            context = client.request("GET", "/internal/peercontext").body
        assert str(list(bytes.fromhex(hello[4].decode()))).replace(" ", "").encode() in context
        assert one.download() == blob.data


def test_an_empty_blob_has_no_pieces_and_is_no_trouble(seeder):
    with agent(seeder, EMPTY, put(seeder, EMPTY)) as one:
        assert one.greet()[5] == bitset(0)
        one.socket.sendall(request(0, 0))
        assert fields(one.read_frame())[2] == ERROR


def test_requests_may_come_with_the_handshake_and_in_any_order(seeder):
    blob = Blob.random(300 * KIB, "pipelined")
    metainfo = put(seeder, blob, 64 * KIB)
    with agent(seeder, blob, metainfo) as one:
        order = [4, 0, 0, 3, 1, 2]
        one.socket.sendall(one.handshake() + b"".join(request(i, one.length_of(i)) for i in order))
        one.read_frame()
        assert [one.take_piece()[0] for _ in order] == order


def test_a_handshake_that_comes_in_drips_is_one(seeder):
    blob = Blob.random(100, "drips")
    with agent(seeder, blob, put(seeder, blob)) as one:
        for byte in one.handshake():
            one.socket.sendall(bytes([byte]))
        one.read_frame()
        assert one.download() == blob.data


def test_what_is_no_request_is_passed_over(seeder):
    blob = Blob.random(200 * KIB, "ignored")
    with agent(seeder, blob, put(seeder, blob, 64 * KIB)) as one:
        one.greet()
        one.socket.sendall(
            frame(b"") + message(BITFIELD, b"") + message(ANNOUNCE, b"")
            + message(ANNOUNCE, number(2, 1 << 30)) + message(CANCEL, number(2, 1))
            + message(ERROR, text(2, "no") + number(3, 1)) + frame(number(2, 77))
            + frame(text(1, "version") + number(2, CANCEL) + text(99, b"of the future"))
            + message(PAYLOAD, number(2, 1) + number(4, 1000)) + bytes(1000))
        assert one.download() == blob.data


@pytest.mark.parametrize("index,length,offset", [
    (0, 1, 0), (0, 64 * KIB + 1, 0), (0, 64 * KIB - 4, 4), (1, 64 * KIB, 64 * KIB), (9, 0, 0),
    (9, 64 * KIB, 0), (2**31 - 1, 64 * KIB, 0), (-1, 0, 0), (-1, 64 * KIB, 0), (0, -1, 0),
    (0, 64 * KIB, -1)])
def test_a_wrong_request_gets_an_error_and_the_connection_lives(seeder, index, length, offset):
    blob = Blob.random(100 * KIB, "wrong")
    with agent(seeder, blob, put(seeder, blob, 64 * KIB)) as one:
        one.greet()
        one.socket.sendall(request(index, length, offset))
        answer = fields(one.read_frame())
        assert answer[2] == ERROR
        assert fields(answer[8]).get(3, 0) == index & ((1 << 64) - 1)
        assert one.download() == blob.data


def bad_handshakes(one: Agent) -> dict[str, bytes]:
    stranger = Blob.random(5, "not here")
    return {
        "no body": message(BITFIELD, None), "empty": frame(b""), "no protobuf": frame(b"\xff" * 9),
        "too long": struct.pack(">I", 32769), "huge": struct.pack(">I", 2**32 - 1),
        "a request first": request(0, 1), "http": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "not here": one.handshake(name=stranger.hex), "upper case": one.handshake(
            name=one.blob.hex.upper()),
        "path": one.handshake(name=b"../../../../etc/passwd"), "short name": one.handshake(name=b""),
        "other infohash": one.handshake(infohash="0" * 40), "infohash": one.handshake(infohash="0"),
        "id": one.handshake(id="x" * 40), "no bitfield": one.handshake(bitfield=b""),
        "2^38 bits": one.handshake(bitfield=bitset(2**38, 1)),
        "2^64-1 bits": one.handshake(bitfield=struct.pack(">Q", 2**64 - 1)),
        "namespace": one.handshake(namespace=b"\xff\xfe"),
        "neighbour": one.handshake(more=text(7, text(1, "x") + text(2, bitset(0)))),
        "neighbour's bits": one.handshake(more=text(7, text(1, one.id) + text(
            2, struct.pack(">Q", 2**38))))}


BAD_HANDSHAKES = [
    "no body", "empty", "no protobuf", "too long", "huge", "a request first", "http", "not here",
    "upper case", "path", "short name", "other infohash", "infohash", "id", "no bitfield",
    "2^38 bits", "2^64-1 bits", "namespace", "neighbour", "neighbour's bits"]


@pytest.mark.parametrize("kind", BAD_HANDSHAKES)
def test_a_bad_handshake_is_closed_without_a_word_and_costs_nobody_else(seeder, kind):
    blob = Blob.random(100 * KIB, "others")
    metainfo = put(seeder, blob, 64 * KIB)
    with agent(seeder, blob, metainfo, "good") as good:
        good.greet()
        for number_of in range(12):  # More than a torrent's connections: no place leaks.
            with agent(seeder, blob, metainfo, number_of) as bad:
                assert set(bad_handshakes(bad)) == set(BAD_HANDSHAKES)
                bad.socket.sendall(bad_handshakes(bad)[kind])
                assert bad.is_closed()
        assert good.download() == blob.data
        with agent(seeder, blob, metainfo, 0) as again:
            again.greet()
            assert again.download() == blob.data


CRASHERS = {
    "request without a body": message(REQUEST, None),
    "announcement without a body": message(ANNOUNCE, None),
    "payload without a body": message(PAYLOAD, None),
    "announcement of piece -1": message(ANNOUNCE, number(2, -1)),
    "payload of -1 bytes": message(PAYLOAD, number(4, -1)),
    "payload of 2 GiB": message(PAYLOAD, number(4, 2**31 - 1)),
    "no protobuf": frame(b"\xff" * 20), "too long": struct.pack(">I", 32769)}


@pytest.mark.parametrize("kind", CRASHERS)
def test_a_bad_message_costs_its_own_connection_only(seeder, kind):
    blob = Blob.random(100 * KIB, "crash")
    metainfo = put(seeder, blob, 64 * KIB)
    with agent(seeder, blob, metainfo, 1) as bad, agent(seeder, blob, metainfo, 2) as good:
        bad.greet()
        good.greet()
        bad.socket.sendall(CRASHERS[kind])
        assert bad.is_closed()
        assert good.download() == blob.data


def test_complete_ends_the_connection(seeder):
    blob = Blob.random(100, "complete")
    with agent(seeder, blob, put(seeder, blob)) as one:
        one.greet()
        one.socket.sendall(message(COMPLETE, b""))
        assert one.is_closed()


def test_a_torrent_has_ten_connections_and_a_place_is_free_again_at_once(seeder):
    blob, other = Blob.random(100, "ten"), Blob.random(100, "other")
    metainfo, other_metainfo = put(seeder, blob), put(seeder, other)
    with ExitStack() as stack:
        agents = [stack.enter_context(agent(seeder, blob, metainfo, i)) for i in range(10)]
        for one in agents:
            one.greet()
        with agent(seeder, blob, metainfo, 10) as eleventh:
            eleventh.socket.sendall(eleventh.handshake())
            assert eleventh.is_closed()
        with agent(seeder, other, other_metainfo) as elsewhere:
            elsewhere.greet()
        agents[3].socket.close()
        time.sleep(0.1)
        with agent(seeder, blob, metainfo, 11) as next_one:
            next_one.greet()
            assert next_one.download() == blob.data


def test_who_comes_again_takes_its_own_place_and_nobody_elses(seeder):
    blob = Blob.random(100, "again")
    metainfo = put(seeder, blob)
    with agent(seeder, blob, metainfo, 1) as lost, agent(seeder, blob, metainfo, 1) as again, \
            agent(seeder, blob, metainfo, 1, source="127.0.0.2") as thief:
        lost.greet()
        again.greet()
        assert lost.is_closed()
        thief.socket.sendall(thief.handshake())
        assert thief.is_closed()
        assert again.download() == blob.data


@pytest.mark.settings({"scheduler.conn_tti": "2s", "scheduler.conn.handshake_timeout": "1s"})
def test_the_idle_and_the_silent_are_closed_and_the_slow_are_not(seeder):
    blob = Blob.random(8 * MIB, "slow")
    metainfo = put(seeder, blob)
    with agent(seeder, blob, metainfo, 1) as silent, agent(seeder, blob, metainfo, 2) as idle, \
            agent(seeder, blob, metainfo, 3) as slow:
        idle.greet()
        slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * KIB)
        slow.greet()
        slow.ask(0)
        begun = time.monotonic()
        pieces = []

        def read_slowly() -> None:
            slow.read_frame()
            parts = []
            for _ in range(64):
                parts.append(slow.read(64 * KIB))
                time.sleep(0.1)
            pieces.append(b"".join(parts))
        reading = threading.Thread(target=read_slowly)
        reading.start()
        assert silent.is_closed(4) and time.monotonic() - begun < 3
        assert idle.is_closed(6) and time.monotonic() - begun < 5
        reading.join()
        assert time.monotonic() - begun > 6
        assert pieces == [blob.data[:4 * MIB]]


@pytest.mark.settings({"scheduler.conn.bandwidth.enable": "true",
                       "scheduler.conn.bandwidth.egress_bits_per_sec": str(4 * MIB * 8)})
def test_egress_is_limited_for_all_together_also_for_pieces_above_a_seconds_worth(seeder):
    blob = Blob.random(12 * MIB, "limited")
    metainfo = put(seeder, blob, 6 * MIB)
    begun = time.monotonic()

    def run(name: int) -> None:
        with agent(seeder, blob, metainfo, name, timeout=30) as one:
            one.greet()
            assert one.download() == blob.data
            done.append(name)
    done: list[int] = []
    threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 2
    # 24 MiB at 4 MiB/s, of which the bucket held 4 and the last piece leaves as a debt.
    assert 3 < time.monotonic() - begun < 9


def test_leaving_in_the_middle_of_a_piece_gives_everything_back(seeder):
    blob = Blob.random(16 * MIB, "leaving")
    metainfo = put(seeder, blob)
    with KrakenClient(seeder) as client:
        client.assert_has(blob)
    before = descriptors(seeder)
    for number_of in range(30):
        with agent(seeder, blob, metainfo, number_of % 10) as one:
            one.greet()
            for index in range(4):
                one.ask(index)
            one.read(100_000)
    until = time.monotonic() + 5
    while descriptors(seeder) > before and time.monotonic() < until:
        time.sleep(0.05)
    assert descriptors(seeder) <= before


def test_many_that_never_say_who_they_are_keep_nobody_out_for_long(seeder):
    blob = Blob.random(100, "half open")
    metainfo = put(seeder, blob)
    with ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(socket.create_connection(("127.0.0.1", seeder.peer_port)))
        with agent(seeder, blob, metainfo, timeout=15) as one:
            one.greet()
            assert one.download() == blob.data


def test_a_deleted_blob_is_read_to_its_end_and_seeded_no_more(seeder):
    blob = Blob.random(16 * MIB, "deleted")
    metainfo = put(seeder, blob)
    with agent(seeder, blob, metainfo, 1) as one:
        one.greet()
        with KrakenClient(seeder) as client:
            assert client.delete(blob.digest).status == 202
        with agent(seeder, blob, metainfo, 2) as late:
            late.socket.sendall(late.handshake())
            assert late.is_closed()
        assert one.download() == blob.data


def test_pieces_of_a_file_that_nobody_hashed_are_compared_first(seeder):
    blob = Blob.random(8 * MIB, "adopted")
    bad = Blob.random(8 * MIB, "adopted and bad")
    metainfo = {one.hex: put(seeder, one) for one in (blob, bad)}
    with KrakenClient(seeder) as client:
        for one in (blob, bad):
            assert client.delete(one.digest).status == 202
    for one in (blob, bad):
        put_blob(seeder.data / "cache", one, last_access=1_700_000_000, metainfo=True)
    file = seeder.data / "cache" / bad.hex[:2] / bad.hex[2:4] / bad.hex / "data"
    file.write_bytes(bad.data[:5 * MIB] + b"X" + bad.data[5 * MIB + 1:])
    with agent(seeder, blob, metainfo[blob.hex], 1) as one:
        one.greet()
        assert one.download() == blob.data
    with agent(seeder, bad, metainfo[bad.hex], 2) as two:
        two.socket.sendall(two.handshake())
        try:
            two.read_frame()
            for index in (0, 1):
                two.ask(index)
                two.take_piece()  # Compares the sum.
            raise AssertionError("a bad piece was sent")
        except (EOFError, ConnectionError):
            pass


def test_a_stop_finishes_the_piece_and_no_more(seeder):
    blob = Blob.random(32 * MIB, "stop")
    with agent(seeder, blob, put(seeder, blob)) as one:
        one.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * KIB)
        one.greet()
        for index in range(5):
            one.ask(index)
        one.read_frame()
        one.read(100_000)
        seeder.terminate()
        time.sleep(0.3)
        one.read(4 * MIB - 100_000)
        assert seeder.exit_code(10) == 0


def test_without_a_peer_port_nobody_listens_for_peers(daemon):
    assert "event=seeding" not in daemon.log()


def test_a_taken_peer_port_is_a_start_error():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with pytest.raises(DaemonDied):
            with Daemon(None, ["--peer-ip", "127.0.0.1", "--peer-port",
                               str(taken.getsockname()[1])]):
                pass
