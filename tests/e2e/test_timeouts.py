"""Deadlines are on progress: who does nothing is cut off, who is slow but honest is not."""

import time

import pytest

from blob import MIB, Blob
from connection import Closed, Connection, request

SHORT = pytest.mark.settings({"server.progress_timeout": "2s", "server.idle_timeout": "2s",
                              "server.header_timeout": "2s"})


@SHORT
@pytest.mark.parametrize("sent", [b"GET", b"GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_half_a_header_is_cut_off(daemon, sent):
    with Connection(daemon.port) as connection:
        connection.send(sent)
        begun = time.monotonic()
        statuses = [answer.status for answer in connection.answers_until_closed()]
        assert 1.0 < time.monotonic() - begun < 8.0
        assert statuses in ([], [408])


@SHORT
@pytest.mark.limit(100)
def test_a_header_that_trickles_is_cut_off_too(daemon):
    """One byte now and then is not the progress that a header owes."""
    with Connection(daemon.port) as connection:
        connection.send(b"GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        until = time.monotonic() + 40
        while connection.silent_for(0.5):
            assert time.monotonic() < until, "a header may take for ever"
            connection.send(b"s")


@SHORT
def test_an_idle_connection_is_closed(daemon):
    with Connection(daemon.port) as connection:
        connection.send(request("GET", "/health"))
        assert connection.answer().body == b"OK\n"
        seconds = connection.closes_within(8)
        assert seconds is not None and seconds > 1.0


@SHORT
def test_a_connection_without_a_request_is_closed(daemon):
    with Connection(daemon.port) as connection:
        assert connection.closes_within(8) is not None


@SHORT
def test_a_silent_chunk_is_cut_off_and_what_came_is_kept(daemon, client):
    blob = Blob.random(1000)
    uid = client.begin(blob.digest)
    head = {"Content-Range": "0-1000", "Content-Length": 1000}
    with Connection(daemon.port) as connection:
        connection.send(request("PATCH", client.upload_path(blob.digest, uid), head)
                        + blob.data[:400])
        begun = time.monotonic()
        assert [a.status for a in connection.answers_until_closed() if a.status < 400] == []
        assert 1.0 < time.monotonic() - begun < 8.0
    client.close()
    # The connection ends first; what came is written a moment later.
    give_up_at = time.monotonic() + 10
    while client.progress(blob.digest, uid) != 400 and time.monotonic() < give_up_at:
        time.sleep(0.01)
    assert client.progress(blob.digest, uid) == 400
    assert client.patch(blob.digest, uid, 400, blob.data[400:]).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


@SHORT
def test_a_slow_but_honest_chunk_is_taken(daemon, client):
    blob = Blob.random(16)
    uid = client.begin(blob.digest)
    head = {"Content-Range": "0-16", "Content-Length": 16}
    with Connection(daemon.port) as connection:
        connection.send(request("PATCH", client.upload_path(blob.digest, uid), head))
        for byte in blob.data:
            connection.send(bytes([byte]))
            time.sleep(0.4)  # 6.4 s in all: three times the deadline.
        assert connection.answer().status == 200
    client.close()
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


@SHORT
def test_a_reader_that_reads_nothing_is_cut_off(daemon, client):
    blob = Blob.random(64 * MIB)
    assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
    client.close()
    with Connection(daemon.port) as connection:
        connection.send(request("GET", f"/cas/{blob.hex}"))
        time.sleep(6)
        with pytest.raises(Closed):  # What the socket's buffers held, and then the end.
            connection.answer()


@SHORT
def test_a_slow_but_steady_reader_gets_all(daemon, client):
    blob = Blob.random(16 * MIB)
    assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
    client.close()
    with Connection(daemon.port) as connection:
        connection.send(request("GET", f"/cas/{blob.hex}", {"Connection": "close"}))
        received = bytearray()
        while part := connection.socket.recv(1 << 20):
            received += part
            time.sleep(0.1)
    assert bytes(received).partition(b"\r\n\r\n")[2] == blob.data
