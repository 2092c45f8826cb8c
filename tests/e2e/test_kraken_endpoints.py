"""The origin's other endpoints: transfers between origins, metainfo, locations, clean-up."""

import json

import pytest

from blob import KIB, MIB, Blob

PEER = ["--peer-ip", "127.0.0.1", "--peer-port", "15003", "--zone", "z", "--cluster", "test"]


def transfer(client, blob: Blob) -> int:
    """An origin passes a blob on to another (the internal variant of an upload)."""
    uploads = f"/internal/blobs/{blob.digest}/uploads"
    start = client.request("POST", uploads)
    if start.status != 200:
        return start.status
    upload = f"{uploads}/{start.header('Location')}"
    patch = client.request("PATCH", upload, blob.data, {"Content-Range": f"0-{blob.size}"})
    assert patch.status == 200 and patch.is_empty()
    return client.request("PUT", upload).status


def test_an_internal_transfer_stores_the_blob(client):
    blob = Blob.random(100 * KIB)
    assert transfer(client, blob) == 200
    client.assert_has(blob)
    assert transfer(client, blob) == 409


def test_an_internal_transfer_with_errors_is_refused(client):
    blob = Blob.random(10)
    uploads = f"/internal/blobs/{blob.digest}/uploads"
    uid = client.request("POST", uploads).header("Location")
    for path, status in [(f"{uploads}/{uid}x", {400, 404}),
                         (f"{uploads}/00000000-0000-0000-0000-000000000000", {404}),
                         (f"/internal/blobs/sha256:abc/uploads/{uid}", {400})]:
        answer = client.request("PATCH", path, b"", {"Content-Range": "0-0"})
        assert answer.status in status, path
        assert client.request("PUT", path).status in status, path
    assert client.request("PATCH", f"{uploads}/{uid}", b"x").status == 400
    wrong = client.request("PATCH", f"{uploads}/{uid}", b"x" * 10, {"Content-Range": "0-10"})
    assert wrong.status == 200
    assert client.request("PUT", f"{uploads}/{uid}").status == 400
    client.assert_lacks(blob)


def duplicate(client, blob: Blob, uid: str, body: bytes):
    path = f"/internal/duplicate{client.upload_path(blob.digest, uid)}"
    return client.request("PUT", path, body)


@pytest.mark.parametrize("body", [
    b'{"Delay":1800000000000}', b'{"Delay":0}', b"{}", b"null", b'{"delay":5}',
    b'{"Delay":-1,"Other":[1,{"x":null}]}', b' {"Delay" : 7 } ',
])
def test_a_duplicate_commit_stores_the_blob(client, body):
    blob = Blob.random(100)
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, blob.data).status == 200
    answer = duplicate(client, blob, uid, body)
    assert answer.status == 200 and answer.is_empty()
    client.assert_has(blob)
    assert duplicate(client, blob, uid, body).status == 404


@pytest.mark.parametrize("body", [b"", b"not json", b'{"Delay":"5"}', b'{"Delay":1.5}', b"[1]",
                                  b'{"Delay":', b'{"Delay":99999999999999999999}', b"5"])
def test_a_duplicate_commit_with_a_bad_body_is_400_and_keeps_the_upload(client, body):
    blob = Blob.random(100)
    uid = client.begin(blob.digest)
    assert client.patch(blob.digest, uid, 0, blob.data).status == 200
    assert duplicate(client, blob, uid, body).status == 400
    client.assert_lacks(blob)
    assert duplicate(client, blob, uid, b'{"Delay":0}').status == 200
    client.assert_has(blob)


def test_metainfo_is_overwritten_and_the_blob_stays(daemon, client):
    blob = Blob.random(70001)
    assert client.upload(blob) == 200
    overwrite = f"/internal/blobs/{blob.digest}/metainfo?piece_length="
    for piece_length in (7, 4096, 65536, 70001, 10**6, 2**40):
        answer = client.request("POST", f"{overwrite}{piece_length}")
        assert answer.status == 200 and answer.is_empty()
        metainfo = client.metainfo(blob.digest)
        assert (metainfo.status, metainfo.body) == (200, blob.metainfo(piece_length))
    for bad in ("0", "-1", "x", "", "1.5", "99999999999999999999"):
        assert client.request("POST", f"{overwrite}{bad}").status == 400, bad
    assert client.request("POST", overwrite.partition("?")[0]).status == 400
    assert client.metainfo(blob.digest).body == blob.metainfo(2**40)
    client.close()
    daemon.restart(kill9=True)
    assert client.metainfo(blob.digest).body in (blob.metainfo(2**40), blob.metainfo())
    assert client.get(blob.digest).body == blob.data


def test_metainfo_of_more_pieces_than_there_may_be_is_400_before_they_are_counted_out(daemon,
                                                                                      client):
    """2^22 pieces: their sums are 16 MiB in memory. One more would be a request for any amount."""
    blob = Blob.random(4 * MIB + 1)
    assert client.upload(blob) == 200
    path = f"/internal/blobs/{blob.digest}/metainfo?piece_length="
    before = daemon.memory_bytes("VmHWM")
    answer = client.request("POST", f"{path}1")
    assert answer.status == 400
    assert b"4194304 pieces" in answer.body
    assert daemon.memory_bytes("VmHWM") - before < 8 * MIB
    client.assert_has(blob)
    assert client.request("POST", f"{path}4096").status == 200
    assert client.metainfo(blob.digest).body == blob.metainfo(4096)


def test_an_absent_blob_has_no_metainfo_to_overwrite(client):
    absent = Blob(b"absent")
    path = f"/internal/blobs/{absent.digest}/metainfo?piece_length=4"
    assert client.request("POST", path).status == 404
    client.assert_lacks(absent)


@pytest.mark.arguments(PEER)
def test_locations_and_peer_context_of_a_cluster_of_one(daemon, client):
    for blob in (Blob(b"absent"), Blob(b"another")):
        answer = client.request("GET", f"/blobs/{blob.digest}/locations")
        assert answer.status == 200 and answer.is_empty()
        assert answer.header("Origin-Locations") == daemon.label
    context = client.request("GET", "/internal/peercontext")
    assert context.status == 200
    # The peer id is 20 numbers, by the address (tests/golden/http.json): a tracker reads no string.
    assert context.body == (b'{"ip":"127.0.0.1","port":15003,"peer_id":[239,29,53,103,12,3,244,182,'
                            b'21,99,77,156,224,82,64,15,248,147,38,47],"zone":"z","cluster":"test",'
                            b'"origin":true}\n')


def test_prefetch_knows_what_is_here(client):
    blob, absent = Blob.random(10), Blob(b"absent")
    assert client.upload(blob) == 200
    for digest, status in [(blob.digest, 200), (absent.digest, 404)]:
        answer = client.request("POST", f"{client.blob_path(digest)}/prefetch")
        assert answer.status == status and answer.is_empty()


@pytest.mark.parametrize("word, status", [
    ("true", 200), ("1", 200), ("t", 200), ("TRUE", 200), ("True", 200), ("F", 200), ("0", 200),
    ("", 200), ("maybe", 400), ("yes", 400), ("2", 400), ("tRUE", 400)])
def test_stat_takes_go_s_words_for_local(client, word, status):
    blob = Blob.random(10)
    assert client.upload(blob) == 200
    path = f"/internal/namespace/n/blobs/{blob.digest}?local={word}"
    answer = client.request("HEAD", path)
    assert answer.status == status
    if status == 200:
        assert answer.header("Content-Length") == "10"


def test_clean_up_never_takes_the_only_copy_of_a_blob(client):
    """A blob that was uploaded where there is no backend is nowhere else."""
    uploaded, put = Blob.random(100, "uploaded"), Blob.random(100, "put")
    assert client.upload(uploaded) == 200
    assert client.request("PUT", f"/cas/{put.hex}", put.data).status == 201
    answer = client.request("POST", "/forcecleanup?ttl_hr=-1")
    assert answer.status == 200
    assert json.loads(answer.body)["deleted"] is None
    v2 = client.request("POST", "/forcecleanup/v2?target_util_percent=0&respect_eviction_ban=false")
    assert v2.status in (200, 500)
    client.assert_has(uploaded)
    client.assert_has(put)


def test_clean_up_takes_what_came_by_a_transfer(client):
    """What another origin passed on is there too, so its age may cost it its place."""
    passed_on = Blob.random(100, "passed on")
    assert transfer(client, passed_on) == 200
    kept = client.request("POST", "/forcecleanup?ttl_hr=1")
    assert (kept.status, kept.body) == (200, b'{"deleted":null,"errors":null}\n')
    answer = client.request("POST", "/forcecleanup?ttl_hr=-1")
    assert answer.status == 200
    assert json.loads(answer.body) == {"deleted": [passed_on.hex], "errors": None}
    client.assert_lacks(passed_on)


@pytest.mark.parametrize("hours, taken", [
    (2**31 - 1, False), (2_562_048, False), (876_000, False), (0, True), (-876_000, True),
    (-2_562_048, True), (-2**31, True)])
def test_an_age_of_any_number_of_hours_means_what_it_says(client, hours, taken):
    """2,562,048 hours are the first that do not fit into 64 bits of nanoseconds."""
    passed_on = Blob.random(100, hours)
    assert transfer(client, passed_on) == 200
    answer = client.request("POST", f"/forcecleanup?ttl_hr={hours}")
    assert answer.status == 200
    assert json.loads(answer.body) == {"deleted": [passed_on.hex] if taken else None,
                                       "errors": None}
    assert client.get(passed_on.digest).status == (404 if taken else 200)


@pytest.mark.parametrize("hours", ["", "x", "1.5", "1h", "0x10", "2147483648", "-2147483649",
                                   "99999999999999999999"])
def test_an_age_that_is_no_number_of_hours_is_400_and_takes_nothing(client, hours):
    passed_on = Blob.random(100, hours)
    assert transfer(client, passed_on) == 200
    assert client.request("POST", f"/forcecleanup?ttl_hr={hours}").status == 400
    client.assert_has(passed_on)


@pytest.mark.parametrize("query", [
    "", "?target_util_percent=50", "?respect_eviction_ban=true",
    "?target_util_percent=x&respect_eviction_ban=true",
    "?target_util_percent=50&respect_eviction_ban=maybe"])
def test_clean_up_v2_needs_both_parameters(client, query):
    assert client.request("POST", f"/forcecleanup/v2{query}").status == 400
