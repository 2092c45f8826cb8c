"""GET /cas: what is here, page by page in the order of digests."""

import http.client
import json
import threading
import time

import pytest

from blob import EMPTY, KIB, Blob
from connection import Connection, request
from daemon import Daemon
from kraken_client import KrakenClient

BLOBS = sorted((Blob.random(number + 1, "listing") for number in range(120)),
               key=lambda blob: blob.hex)


@pytest.fixture(scope="module")
def stored():
    with Daemon() as daemon, KrakenClient(daemon) as client:
        for blob in BLOBS:
            assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
        yield client


def page(client: KrakenClient, query: str = "") -> dict:
    answer = client.request("GET", "/cas" + query)
    assert answer.status == 200, answer
    assert answer.header("Content-Type") == "application/json"
    assert answer.body.endswith(b"}\n")
    listed = json.loads(answer.body)
    assert list(listed) == ["blobs", "next"]
    for blob in listed["blobs"]:
        assert list(blob) == ["digest", "size", "committed_at"]
    digests = [blob["digest"] for blob in listed["blobs"]]
    assert digests == sorted(set(digests))
    if listed["next"] is not None:
        assert f"sha256:{listed['next']}" == digests[-1]
    return listed


def digests_in_pages(client: KrakenClient, limit: int) -> list[str]:
    digests, query = [], f"?limit={limit}"
    while True:
        listed = page(client, query)
        digests += [blob["digest"] for blob in listed["blobs"]]
        if listed["next"] is None:
            return digests
        assert len(listed["blobs"]) == limit
        query = f"?limit={limit}&after={listed['next']}"


def test_an_empty_store_lists_nothing(client):
    answer = client.request("GET", "/cas")
    assert (answer.status, answer.body) == (200, b'{"blobs":[],"next":null}\n')


def test_a_blob_is_listed_with_its_size_and_time_until_it_is_removed(daemon, client):
    before = int(time.time())
    stored_by_cas, stored_by_kraken = Blob.random(10 * KIB, "cas"), Blob.random(3, "kraken")
    assert client.request("PUT", f"/cas/{stored_by_cas.hex}", stored_by_cas.data).status == 201
    assert client.upload(stored_by_kraken) == 200
    assert client.request("POST", "/cas", EMPTY.data).status == 201
    client.begin(Blob(b"only begun").digest)

    blobs = sorted([stored_by_cas, stored_by_kraken, EMPTY], key=lambda blob: blob.hex)
    listed = page(client)
    assert [(one["digest"], one["size"]) for one in listed["blobs"]] \
        == [(blob.digest, blob.size) for blob in blobs]
    assert listed["next"] is None
    for one in listed["blobs"]:
        assert before <= one["committed_at"] <= time.time() + 1

    client.close()
    daemon.restart()
    assert page(client) == listed
    for blob in blobs:
        assert client.request("DELETE", f"/cas/{blob.hex}").status == 204
    assert page(client) == {"blobs": [], "next": None}


@pytest.mark.parametrize("limit", [1, 7, 59, 60, 119, 120, 121, 1000])
def test_the_pages_together_are_every_blob_once_and_in_order(stored, limit):
    assert digests_in_pages(stored, limit) == [blob.digest for blob in BLOBS]


def test_a_page_has_100_blobs_if_nothing_is_said(stored):
    listed = page(stored)
    assert len(listed["blobs"]) == 100
    assert listed["next"] == BLOBS[99].hex
    rest = page(stored, f"?after={listed['next']}")
    assert [blob["digest"] for blob in rest["blobs"]] == [blob.digest for blob in BLOBS[100:]]
    assert rest["next"] is None


def test_after_need_not_be_here(stored):
    middle = BLOBS[60].hex
    just_before = f"{int(middle, 16) - 1:064x}"
    assert page(stored, f"?after={just_before}&limit=1")["blobs"][0]["digest"] == BLOBS[60].digest
    assert page(stored, f"?after={middle}&limit=1")["blobs"][0]["digest"] == BLOBS[61].digest
    assert page(stored, f"?after={'f' * 64}") == {"blobs": [], "next": None}
    assert page(stored, f"?after={'0' * 64}&limit=1")["blobs"][0]["digest"] == BLOBS[0].digest


def test_arguments_are_percent_decoded_and_unknown_ones_ignored(stored):
    hex_digits = BLOBS[5].hex
    escaped = f"%{ord(hex_digits[0]):02x}{hex_digits[1:]}"
    assert page(stored, f"?x=%zz&limit=%32&after={escaped}") \
        == page(stored, f"?after={hex_digits}&limit=2&y")


@pytest.mark.parametrize("query", [
    "limit=0", "limit=1001", "limit=-1", "limit=+1", "limit=", "limit", "limit=1.0", "limit=1x",
    "limit=0x10", "limit=%zz", "limit=%201", "limit=99999999999999999999", "limit=1&limit=1",
    "after=", "after", "after=x", f"after={'A' * 64}", f"after={'a' * 63}", f"after={'a' * 65}",
    f"after=sha256:{'a' * 64}", f"after={'a' * 63}%00", f"after={'a' * 63}%zz",
    f"after={'a' * 64}&after={'b' * 64}", f"limit=5&after={'g' * 64}",
])
def test_bad_arguments_are_400(stored, query):
    answer = stored.request("GET", f"/cas?{query}")
    assert answer.status == 400, answer
    error = json.loads(answer.body)["error"]
    assert error["code"] == "invalid_argument"
    assert query.partition("=")[0] in error["message"] or "after" in error["message"]


def test_head_says_what_get_says(daemon, client):
    assert client.request("POST", "/cas", b"x").status == 201
    with Connection(daemon.port) as connection:
        connection.send(request("HEAD", "/cas") + request("GET", "/cas"))
        head, got = connection.answer("HEAD"), connection.answer()
        assert (head.status, got.status) == (200, 200)
        assert head.header("Content-Length") == str(len(got.body))


def test_whoever_may_read_may_list(stored):
    """It is of class read: a proxy's client, too, which could not delete."""
    answer = stored.request("GET", "/cas?limit=1", headers={"X-Forwarded-For": "1.2.3.4"})
    assert answer.status == 200


def test_a_list_of_other_methods_is_refused_and_names_get(stored):
    answer = stored.request("PUT", "/cas")
    assert answer.status == 405
    assert {word.strip() for word in answer.header("Allow").split(",")} == {"GET", "HEAD", "POST"}


def test_a_full_page_is_1000_blobs(daemon, client):
    count = 1001
    for number in range(count):
        assert client.request("POST", "/cas", b"%d" % number).status == 201
    listed = page(client, "?limit=1000")
    assert len(listed["blobs"]) == 1000
    rest = page(client, f"?limit=1000&after={listed['next']}")
    assert (len(rest["blobs"]), rest["next"]) == (1, None)


def test_what_stays_is_listed_while_others_come_and_go(daemon, client):
    stay = sorted(Blob.random(100, f"stay {number}").hex for number in range(40))
    for number in range(40):
        blob = Blob.random(100, f"stay {number}")
        assert client.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
    stop, failures = threading.Event(), []

    def come_and_go():
        try:
            with KrakenClient(daemon) as other:
                number = 0
                while not stop.is_set():
                    blob = Blob.random(100, f"passing {number}")
                    number += 1
                    assert other.request("PUT", f"/cas/{blob.hex}", blob.data).status == 201
                    assert other.request("DELETE", f"/cas/{blob.hex}").status == 204
        except (AssertionError, OSError, http.client.HTTPException) as failure:
            failures.append(failure)

    busy = threading.Thread(target=come_and_go)
    busy.start()
    try:
        for _ in range(15):
            listed = digests_in_pages(client, 3)
            assert len(listed) == len(set(listed))
            assert set(listed) >= {f"sha256:{hex_digits}" for hex_digits in stay}
    finally:
        stop.set()
        busy.join()
    assert failures == []
