"""C01: the grammar of Content-Range in Kraken's dialect, `start-end` with the end exclusive."""

import pytest

from blob import Blob

pytestmark = pytest.mark.usefixtures("still_alive")

# The case's own forms come first; of those, Kraken takes "+0-10" (test below).
MALFORMED = [
    "bytes 0-9/10", "0,10", "0-10-20", "a-b", "-5", "5-", "0x0-0xA", "0-18446744073709551616",
    "10-5", "", None,
    "0-9223372036854775808", "9223372036854775808-9223372036854775809", "blah", "-5-10", "0 - 5",
    "1_0-20", "0-5/10", "bytes=0-9", "0-1e1", "0-10,", "0-*", "--", "-", "++0-10", "0-10 bytes",
    "\u0660-\u0665", "0\t-10", "0-10\x7f",
]


def uploads_path(client, dialect: str, digest: str) -> str:
    return f"/internal/blobs/{digest}/uploads" if dialect == "internal" else (
        f"{client.blob_path(digest)}/uploads")


def patch(client, upload: str, value: str | None, data: bytes):
    headers = {} if value is None else {"Content-Range": value.encode().decode("latin-1")}
    return client.request("PATCH", upload, data, headers)


@pytest.mark.parametrize("dialect", ["public", "internal"])
@pytest.mark.parametrize("value", MALFORMED)
def test_a_malformed_content_range_is_400_and_leaves_the_session_unchanged(shared_client, dialect,
                                                                           value):
    blob = Blob.random(10, f"{dialect} {value}")
    uploads = uploads_path(shared_client, dialect, blob.digest)
    upload = f"{uploads}/{shared_client.request('POST', uploads).header('Location')}"
    assert patch(shared_client, upload, "0-5", blob.data[:5]).status == 200
    assert patch(shared_client, upload, value, b"0123456789").status == 400
    progress = shared_client.request("GET", upload)
    assert (progress.status, progress.header("Upload-Offset")) == (204, "5")
    assert patch(shared_client, upload, "5-10", blob.data[5:]).status == 200
    assert shared_client.request("PUT", upload).status == 200
    shared_client.assert_has(blob)


@pytest.mark.parametrize("dialect", ["public", "internal"])
@pytest.mark.parametrize("value", ["0-10", " 0-10 ", "\t0-10", "+0-10", "+0-+10", "00-0010"])
def test_ten_bytes_from_zero_to_ten_are_200(shared_client, dialect, value):
    blob = Blob.random(10, f"{dialect} {value}")
    uploads = uploads_path(shared_client, dialect, blob.digest)
    upload = f"{uploads}/{shared_client.request('POST', uploads).header('Location')}"
    answer = patch(shared_client, upload, value, blob.data)
    assert answer.status == 200 and answer.is_empty()
    assert shared_client.request("PUT", upload).status == 200
    shared_client.assert_has(blob)


@pytest.mark.parametrize("value", ["0-9", "0-11", "1-10", "0-0", "5-5"])
def test_a_range_of_another_length_than_the_body_is_400(shared_client, value):
    """The inclusive end of OCI would be one byte less: it must not pass for a chunk."""
    blob = Blob.random(10, f"length {value}")
    uid = shared_client.begin(blob.digest)
    upload = shared_client.upload_path(blob.digest, uid)
    assert patch(shared_client, upload, value, blob.data).status == 400
    assert shared_client.progress(blob.digest, uid) == 0
    assert patch(shared_client, upload, "0-10", blob.data).status == 200
    assert shared_client.commit(blob.digest, uid).status == 200
    shared_client.assert_has(blob)
