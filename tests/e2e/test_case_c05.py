"""C05: a client is cut off in the middle of a chunk, comes back and goes on, or sends it again."""

import socket
import struct
import time

import pytest

from blob import KIB, MIB, Blob
from connection import Connection, request
from daemon import FULL

pytestmark = pytest.mark.usefixtures("still_alive")

SIZE = (256 if FULL else 32) * MIB
# A writer that is silent, but connected, may keep others waiting for two seconds.
SILENCE_SECONDS = 2.0
ENDS = ["closed", "half closed", "reset"]


def cut_off(daemon, client, blob: Blob, uid: str, at: int, arriving: int, end: str) -> None:
    """A client that dies when `arriving` bytes of its chunk (the rest of the blob) are sent."""
    head = {"Content-Range": f"{at}-{blob.size}", "Content-Length": blob.size - at}
    with Connection(daemon.port) as connection:
        connection.send(request("PATCH", client.upload_path(blob.digest, uid), head)
                        + blob.data[at:at + arriving])
        if end == "half closed":
            connection.half_close()
            assert [a.status for a in connection.answers_until_closed() if a.status < 400] == []
        elif end == "reset":
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                         struct.pack("ii", 1, 0))


def settled_progress(client, blob: Blob, uid: str, within: float = 10.0) -> int:
    """The durable length once the daemon has taken in all that is still under way."""
    until = time.monotonic() + within
    last = -1
    while (now := client.progress(blob.digest, uid)) != last or now == 0:
        assert time.monotonic() < until, f"the progress is still moving, or 0: {now}"
        last = now
        time.sleep(0.2)
    return now


def wait_for_progress(client, blob: Blob, uid: str, beyond: int) -> None:
    """Until the daemon is at what was cut off, so that this and the retry come in their order: on
    another connection, and another reactor, the retry may be the earlier one. A reset may have
    destroyed all of it; then there is nothing to wait for."""
    until = time.monotonic() + 5
    while client.progress(blob.digest, uid) <= beyond and time.monotonic() < until:
        time.sleep(0.01)


@pytest.mark.limit(180)
@pytest.mark.parametrize("end", ENDS)
def test_what_arrived_is_told_and_an_upload_goes_on_from_there(daemon, client, end):
    blob = Blob.random(SIZE, end)
    uid = client.begin(blob.digest)
    sent = SIZE * 6 // 10
    cut_off(daemon, client, blob, uid, 0, sent, end)
    durable = settled_progress(client, blob, uid)
    assert 0 < durable <= sent
    if end != "reset":  # A reset may destroy what the kernel had taken over and not delivered.
        assert durable == sent
    assert client.patch(blob.digest, uid, durable, blob.data[durable:]).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


@pytest.mark.limit(180)
@pytest.mark.parametrize("end", ENDS)
def test_the_whole_chunk_sent_again_at_the_same_offset_is_200(daemon, client, end):
    """As Kraken's own clients do. The offset is the second chunk's, so that both may go wrong."""
    blob = Blob.random(SIZE, f"again {end}")
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, blob.data[:MIB]).status == 200
    cut_off(daemon, client, blob, uid, MIB, (SIZE - MIB) * 6 // 10, end)
    wait_for_progress(client, blob, uid, MIB)
    assert client.patch(blob.digest, uid, MIB, blob.data[MIB:]).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)


@pytest.mark.parametrize("end", ENDS)
def test_a_connection_that_ended_holds_up_nobody(daemon, client, end):
    for number in range(5):
        blob = Blob.random(600 * KIB, f"not blocked {end} {number}")
        uid = client.begin(blob.digest)
        cut_off(daemon, client, blob, uid, 0, 400 * KIB, end)
        wait_for_progress(client, blob, uid, 0)
        begun = time.monotonic()
        assert client.patch(blob.digest, uid, 0, blob.data).status == 200
        assert time.monotonic() - begun < SILENCE_SECONDS * 0.9
        assert client.commit(blob.digest, uid).status == 200
        client.assert_has(blob)


def test_an_upload_that_is_cut_off_again_and_again_loses_nothing(daemon, client):
    blob = Blob.random(3 * MIB)
    uid = client.begin(blob.digest)
    at = 0
    for arriving in [700 * KIB, 800 * KIB, 333]:
        cut_off(daemon, client, blob, uid, at, arriving, "closed")
        at += arriving
        # On loopback nothing is lost when a connection is closed.
        assert settled_progress(client, blob, uid) == at
    assert client.patch(blob.digest, uid, at, blob.data[at:]).status == 200
    assert client.commit(blob.digest, uid).status == 200
    client.assert_has(blob)
