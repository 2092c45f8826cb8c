"""GET /metrics: each number moves when its cause happens, and nothing a client sends adds one."""

import os
import random
import re
import shutil
import socket
import time

import pytest

from blob import KIB, MIB, Blob
from connection import Connection, request
from daemon import REPOSITORY
from exposition import Malformed, Page, scrape
from kraken_client import KrakenClient
from small_disk import SmallDisk
from test_case_c27 import download, flip, stored_blob
from test_case_c38 import hostile_request
from test_eviction import MARKS, InternalClient, hand_over

GOOD = '# HELP a_total A.\n# TYPE a_total counter\na_total{x="\\"\\\\"} 1\n'
HISTOGRAM = ("# HELP h H.\n# TYPE h histogram\nh_count 2\nh_sum 0.5\n"
             'h_bucket{le="0.1"} 1\nh_bucket{le="+Inf"} 2\n')


def moved(before: Page, after: Page, name: str, **labels: str) -> float:
    return after.total(name, **labels) - before.total(name, **labels)


def raw_exchange(port: int, data: bytes) -> bytes:
    """Every byte that comes back until the daemon closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=15) as connection:
        connection.sendall(data)
        received = b""
        while part := connection.recv(1 << 18):
            received += part
    return received


def page_when(client: KrakenClient, ready, seconds: float = 5.0) -> Page:
    """A page that the condition holds for; the last one, if that does not come."""
    until = time.monotonic() + seconds
    while not ready(page := scrape(client)) and time.monotonic() < until:
        time.sleep(0.05)
    return page


def test_the_reader_of_this_test_takes_what_is_right():
    assert Page(GOOD).value("a_total", x='"\\') == 1
    assert Page(HISTOGRAM).value("h_count") == 2


@pytest.mark.parametrize("text", [
    GOOD[:-1], GOOD + GOOD, GOOD + 'a_total{x="\\"\\\\"} 1\n', GOOD.replace("_total", ""),
    GOOD.replace('"} 1', '"} -1'), GOOD.replace('="', '='), GOOD.replace('"}', '",}'),
    GOOD.replace("# TYPE a_total counter\n", ""), GOOD + "b 1\n", GOOD + "\n", GOOD + "# note\n",
    GOOD.replace("{x=", "{1="), GOOD.replace(" 1\n", " one\n"),
    HISTOGRAM.replace("h_count 2", "h_count 3"), HISTOGRAM.replace('h_bucket{le="+Inf"} 2\n', ""),
    HISTOGRAM.replace("h_sum 0.5\n", ""), HISTOGRAM.replace('"0.1"} 1', '"0.1"} 3')])
def test_the_reader_of_this_test_refuses_what_is_wrong(text):
    with pytest.raises(Malformed):
        Page(text)


def test_a_strict_reader_takes_the_page_and_it_is_the_same_to_head(daemon, client):
    page = scrape(client)
    assert len(page.families) > 20
    assert page.value("orlop_build_info", version="0.1.0") == 1
    head = client.request("HEAD", "/metrics")
    assert (head.status, head.body) == (200, b"")
    assert int(head.header("Content-Length")) > 10_000
    assert client.request("POST", "/metrics").status == 405


def test_every_answer_is_counted_by_its_class_and_status_and_took_some_time(daemon, client):
    blob = Blob.random(KIB, "counted")
    before = scrape(client)
    assert client.upload(blob) == 200  # Start, chunk, commit.
    for _ in range(3):
        assert client.request("GET", f"/cas/{blob.hex}").status == 200
    assert client.request("GET", f"/cas/{Blob.random(9).hex}").status == 404
    assert client.request("GET", f"/cas/{blob.hex}", headers={"Range": "bytes=0-9"}).status == 206
    assert client.request("GET", "/nowhere").status == 404
    assert client.request("PUT", "/health").status == 405
    assert client.request("GET", "/health").status == 200
    assert client.delete(blob.digest).status == 202
    after = scrape(client)

    expected = {("write", "200"): 3, ("read", "200"): 3, ("read", "404"): 1, ("read", "206"): 1,
                ("none", "404"): 1, ("none", "405"): 1, ("operate", "202"): 1,
                ("probe", "200"): 2}  # With the first scrape.
    for (route_class, status), count in expected.items():
        labels = {"class": route_class, "status": status}
        assert moved(before, after, "orlop_requests_total", **labels) == count, labels
    assert moved(before, after, "orlop_requests_total") == sum(expected.values())
    assert moved(before, after, "orlop_request_duration_seconds_count") == sum(expected.values())
    read = {"class": "read", "status": "2xx"}
    assert moved(before, after, "orlop_request_duration_seconds_count", **read) == 4
    assert 0 < moved(before, after, "orlop_request_duration_seconds_sum", **read) < 10


def test_the_bytes_are_those_on_the_wire_for_small_and_large_and_ranges(daemon):
    small, large = Blob.random(KIB, "small"), Blob.random(20 * MIB + 17, "large")
    close = {"Connection": "close"}
    page_request = request("GET", "/metrics", close)
    asked = [request("PUT", f"/cas/{small.hex}", close, small.data),
             request("PUT", f"/cas/{large.hex}", close, large.data),
             request("PUT", "/cas/" + "0" * 64, close | {"Transfer-Encoding": "chunked"},
                     b"5\r\nhello\r\n0\r\n\r\n"),
             request("GET", f"/cas/{small.hex}", close), request("GET", f"/cas/{large.hex}", close),
             request("HEAD", f"/cas/{large.hex}", close), request("GET", "/nowhere", close),
             request("GET", f"/cas/{large.hex}", close | {"Range": "bytes=5-9,1000000-9000000"})]

    before = raw_exchange(daemon.port, page_request)
    sent = sum(len(raw_exchange(daemon.port, one)) for one in asked)
    after = raw_exchange(daemon.port, page_request)

    first, second = (Page(page.partition(b"\r\n\r\n")[2].decode()) for page in (before, after))
    # The answer with a page goes out after the page was made.
    assert moved(first, second, "orlop_sent_bytes_total") == sent + len(before)
    received = sum(len(one) for one in asked) + len(page_request)
    assert moved(first, second, "orlop_received_bytes_total") == received


def test_connections_and_uploads_and_promised_space_are_counted_while_they_last(daemon, client):
    before = scrape(client)
    held = [Connection(daemon.port) for _ in range(5)]
    blob = Blob.random(MIB, "open")
    answer = client.request("POST", f"{client.blob_path(blob.digest)}/uploads?size={8 * MIB}")
    uid = answer.header("Location")
    during = page_when(client, lambda page: moved(before, page, "orlop_connections") == 5)
    assert moved(before, during, "orlop_connections") == 5
    assert moved(before, during, "orlop_connections_accepted_total") == 5
    assert moved(before, during, "orlop_uploads_open") == 1
    assert moved(before, during, "orlop_reserved_bytes") == 8 * MIB
    for connection in held:
        connection.close()
    assert client.cancel(blob.digest, uid).status == 204
    after = page_when(client, lambda page: moved(before, page, "orlop_connections") == 0)
    assert moved(before, after, "orlop_connections") == 0
    assert moved(before, after, "orlop_uploads_open") == 0
    assert moved(before, after, "orlop_reserved_bytes") == 0


def test_blobs_and_their_bytes_and_the_disk_are_as_they_are(daemon, client):
    before = scrape(client)
    assert client.upload(Blob.random(5 * MIB, "usage")) == 200
    after = scrape(client)
    assert moved(before, after, "orlop_blobs") == 1
    assert 5 * MIB <= moved(before, after, "orlop_blob_bytes") < 6 * MIB
    disk = os.statvfs(daemon.data)
    cache = {"file_system": "cache"}
    ours = disk.f_blocks - disk.f_bfree + disk.f_bavail  # Without what is kept for root.
    size = after.value("orlop_file_system_bytes", **cache)
    assert abs(size / (ours * disk.f_frsize) - 1) < 0.01
    free = after.value("orlop_file_system_free_bytes", **cache)
    assert abs(free - disk.f_bavail * disk.f_frsize) < 2**30
    assert after.value("orlop_file_system_floor_bytes", **cache) == 256 * MIB
    assert after.value("orlop_metadata_writable") == 1
    assert after.value("orlop_storage_age_seconds") < 1


def test_the_process_is_as_the_kernel_says(daemon, client):
    page = scrape(client)
    assert abs(page.value("process_start_time_seconds") - time.time()) < 120
    assert abs(page.value("process_resident_memory_bytes") / daemon.memory_bytes() - 1) < 0.5
    descriptors = len(os.listdir(f"/proc/{daemon.pid}/fd"))
    assert abs(page.value("process_open_fds") - descriptors) < 10
    assert page.value("process_max_fds") >= 1024
    assert page.value("process_threads") == len(os.listdir(f"/proc/{daemon.pid}/task"))


@pytest.mark.settings({"server.writes_max": "1"})
def test_a_refusal_is_counted_by_the_limit_that_was_reached(daemon, client):
    before = scrape(client)
    with Connection(daemon.port) as writer:
        slow = Blob.random(64 * KIB, "slow")
        writer.send(request("PUT", f"/cas/{slow.hex}", {"Expect": "100-continue",
                                                        "Content-Length": slow.size}))
        assert writer.answer().status == 100
        assert scrape(client).value("orlop_requests_running", **{"class": "write"}) == 1
        for _ in range(3):
            assert client.request("POST", "/cas", b"x").status == 503
    after = scrape(client)
    assert moved(before, after, "orlop_refusals_total", reason="writes_max") == 3
    assert moved(before, after, "orlop_refusals_total", reason="reads_max") == 0
    assert moved(before, after, "orlop_requests_total", **{"class": "write", "status": "503"}) == 3


def test_an_answer_that_its_client_does_not_take_is_counted_as_cut(daemon, client):
    large = Blob.random(32 * MIB, "cut")
    assert client.request("PUT", f"/cas/{large.hex}", large.data).status == 201
    before = scrape(client)
    with Connection(daemon.port) as reader:
        reader.send(request("GET", f"/cas/{large.hex}"))
        assert reader.socket.recv(64).startswith(b"HTTP/1.1 200")
    cut = {"class": "read"}
    after = page_when(client, lambda page: moved(before, page, "orlop_answers_cut_total", **cut))
    assert moved(before, after, "orlop_answers_cut_total", **cut) == 1
    assert moved(before, after, "orlop_sent_bytes_total") < large.size


def test_the_lag_of_the_reactors_is_measured_all_the_time(daemon, client):
    before = scrape(client)
    time.sleep(1.0)
    after = scrape(client)
    assert moved(before, after, "orlop_reactor_lag_seconds_count") >= 5


def test_what_strangers_send_adds_no_series(daemon, client):
    before = scrape(client)
    chance = random.Random(7)
    for number in range(300):
        method, head = hostile_request(chance, number)
        with Connection(daemon.port) as connection:
            connection.send(head)
            connection.answer("HEAD" if method == "HEAD" else "GET")
    for head in (b"\x16\x03\x01\r\n\r\n", b"GET /metrics?a=b{}\"\n HTTP/1.1\r\n\r\n",
                 request("GET", "/metrics?x=%0a", {"X-Scrape": 'a"b'})):
        raw_exchange(daemon.port, head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
    after = scrape(client)
    assert after.series() == before.series()
    assert after.total("orlop_requests_total") >= before.total("orlop_requests_total") + 300


def test_scrapes_that_come_faster_than_pages_are_made_are_refused_and_harm_nobody(daemon, client):
    with_all = [Connection(daemon.port, timeout=30) for _ in range(60)]
    for connection in with_all:
        connection.send(request("GET", "/metrics") * 3)
    statuses = {connection.answer().status for connection in with_all}
    assert statuses <= {200, 503}
    assert 200 in statuses
    assert client.request("GET", "/health").status == 200
    for connection in with_all:
        connection.close()


def test_commits_are_counted_by_their_group_and_the_disk_pool_by_its_work(daemon, client):
    before = scrape(client)
    for number in range(5):
        assert client.upload(Blob.random(KIB, number)) == 200
    after = scrape(client)
    groups = moved(before, after, "orlop_commit_group_size_count")
    assert 1 <= groups <= 5
    assert moved(before, after, "orlop_commit_group_size_sum") == 5
    assert moved(before, after, "orlop_commit_group_seconds_count") == groups
    assert moved(before, after, "orlop_commit_sync_seconds_count") == groups
    assert moved(before, after, "orlop_commit_sync_seconds_sum") > 0
    assert moved(before, after, "orlop_queue_wait_seconds_count", queue="commit") == 5
    assert moved(before, after, "orlop_queue_wait_seconds_count", queue="disk") >= 5
    for queue in ("disk", "commit"):
        assert after.value("orlop_queue_waiting", queue=queue) == 0
        assert after.value("orlop_queue_stalled_seconds", queue=queue) == 0
        assert after.value("orlop_queue_max", queue=queue) > 1000
    assert moved(before, after, "orlop_commits_failed_total") == 0


@pytest.mark.settings({"store.durability": "never"})
def test_what_is_not_synced_is_not_counted_as_synced(daemon, client):
    assert client.upload(Blob.random(KIB, "unsynced")) == 200
    page = scrape(client)
    assert page.value("orlop_commit_group_size_count") == 1
    assert page.value("orlop_commit_sync_seconds_count") == 0


def test_what_is_damaged_is_counted_as_quarantined_and_as_a_log_line(daemon, client):
    blob, path = stored_blob(daemon, "damaged")
    before = scrape(client)
    flip(path, 100)
    download(client, blob)
    after = page_when(client, lambda page: moved(before, page, "orlop_quarantined_blobs_total"))
    assert moved(before, after, "orlop_quarantined_blobs_total") == 1
    assert moved(before, after, "orlop_log_lines_total", level="error") >= 1


def test_what_is_deleted_is_counted_by_who_asked_for_it(daemon, client):
    before = scrape(client)
    by_name, by_age = Blob.random(KIB, "by name"), Blob.random(KIB, "by age")
    with InternalClient(daemon) as other:  # Its blobs are backed.
        assert other.upload(by_age) == 200
    assert client.upload(by_name) == 200
    assert client.delete(by_name.digest).status == 202
    assert client.request("POST", "/forcecleanup?ttl_hr=-1").status == 200
    after = scrape(client)
    assert moved(before, after, "orlop_removed_blobs_total", reason="delete") == 1
    assert moved(before, after, "orlop_removed_blobs_total", reason="forced_clean_up") == 1
    assert moved(before, after, "orlop_removed_blobs_total", reason="eviction") == 0


def test_eviction_is_counted_in_blobs_and_bytes():
    with SmallDisk("size=64m", MARKS) as disk, KrakenClient(disk) as client:
        before = scrape(client)
        hand_over(disk, [Blob.random(MIB, number) for number in range(47)])
        evicted = {"reason": "eviction"}
        after = page_when(
            client, lambda page: moved(before, page, "orlop_removed_blobs_total", **evicted), 15)
        blobs = moved(before, after, "orlop_removed_blobs_total", **evicted)
        assert blobs >= 1
        assert moved(before, after, "orlop_evicted_bytes_total") >= blobs * MIB
        assert after.value("orlop_file_system_bytes", file_system="cache") == 64 * MIB


def test_a_full_disk_is_counted_as_refusals_and_leaves_the_page_readable():
    with SmallDisk("size=64m", {"store.free_bytes_min": "4MB"}) as disk, \
            KrakenClient(disk) as client:
        before = scrape(client)
        disk.fill_up(leave=3 * MIB)
        for number in range(3):
            assert client.start(Blob.random(KIB, number).digest).status == 503
        after = scrape(client)
        assert moved(before, after, "orlop_refusals_total", reason="space") == 3
        cache = {"file_system": "cache"}
        free = after.value("orlop_file_system_free_bytes", **cache)
        assert free < after.value("orlop_file_system_floor_bytes", **cache) == 4 * MIB


@pytest.mark.settings({"store.uploads_max": "2"})
def test_uploads_beyond_their_number_are_counted_as_refusals(daemon, client):
    before = scrape(client)
    for number, status in enumerate((200, 200, 503, 503)):
        assert client.start(Blob.random(KIB, number).digest).status == status
    after = scrape(client)
    assert moved(before, after, "orlop_refusals_total", reason="uploads_max") == 2
    assert after.value("orlop_uploads_max") == 2


def test_scrub_and_indexer_say_how_far_they_are(daemon, client):
    daemon.log_at_rest()
    page = scrape(client)
    assert page.value("orlop_indexer_done") == 1
    assert page.total("orlop_indexer_entries") == 0
    assert page.value("orlop_scrub_enabled") == 1
    assert page.value("orlop_scrub_pass_done") == 1
    assert abs(page.value("orlop_scrub_pass_start_seconds") - time.time()) < 120
    assert page.value("orlop_scrub_pass_blobs", found="bad") == 0
    assert page.value("orlop_scrub_bytes_per_second") == 0


def test_what_the_indexer_finds_is_counted(daemon, client):
    daemon.log_at_rest()
    strange = daemon.data / "cache" / "ab" / "cd" / "no blob"
    daemon.stop()
    strange.mkdir(parents=True)
    shutil.rmtree(daemon.data / "cache" / "db", ignore_errors=True)  # The database is lost.
    shutil.rmtree(daemon.data / "db", ignore_errors=True)
    daemon.start()
    page = page_when(client, lambda page: page.value("orlop_indexer_done") == 1)
    assert page.value("orlop_indexer_done") == 1
    assert page.value("orlop_indexer_entries", found="foreign") == 1


def test_the_pages_for_operators_name_exactly_the_metrics_that_there_are(daemon, client):
    """What there is is documented, and no alarm waits for a number that does not exist."""
    families = scrape(client).families
    ours = {name for name in families if name.startswith("orlop_")}
    docs = (REPOSITORY / "docs/operations.md").read_text()
    section = docs[docs.index("## Metrics\n"):docs.index("## The log\n")]
    assert set(re.findall(r"`(orlop_[a-z_]+)`", section)) == ours

    series = families.keys() | {name + suffix for name, family in families.items()
                                for suffix in family.suffixes()}
    for path in ("orlop-alerts.yaml", "orlop-dashboard.json"):
        text = (REPOSITORY / "docker/grafana" / path).read_text()
        named = set(re.findall(r"\b(?:orlop|process)_[a-z_]+", text))
        assert len(named) > 10
        assert named <= series, path
    alarms = set(re.findall(r"alert: (\w+)",
                            (REPOSITORY / "docker/grafana/orlop-alerts.yaml").read_text()))
    assert set(re.findall(r"\bOrlop[A-Z]\w+", section)) == alarms


def test_metainfo_that_was_asked_for_is_in_memory_and_counted(daemon, client):
    blob = Blob.random(KIB, "metainfo")
    assert client.upload(blob) == 200
    assert client.metainfo(blob.digest).status == 200
    page = scrape(client)
    assert page.value("orlop_metainfo_cache_objects") == 1
    assert 0 < page.value("orlop_metainfo_cache_bytes") < page.value(
        "orlop_metainfo_cache_max_bytes")


@pytest.mark.settings({"server.connections_max": "4"})
def test_connections_beyond_their_number_are_counted_as_pauses_of_accepting(daemon, client):
    limit = {"reason": "limit"}
    assert scrape(client).value("orlop_accept_pauses_total", **limit) == 0
    held = [Connection(daemon.port) for _ in range(5)]
    page = page_when(client, lambda page: page.value("orlop_accept_pauses_total", **limit) > 0)
    assert page.value("orlop_accept_pauses_total", **limit) > 0
    assert page.value("orlop_accept_pauses_total", reason="error") == 0
    assert page.value("orlop_connections") == page.value("orlop_connections_max") == 4
    for connection in held:
        connection.close()
