"""C11: a digest has one spelling and one algorithm."""

import hashlib

import pytest

from alive import still_alive
from blob import Blob
from connection import Connection, request
from kraken_client import KrakenClient

BLOB = Blob.random(500, "spelling")
UPPER = BLOB.hex.upper()
MIXED = BLOB.hex[:32] + BLOB.hex[32:].upper()
SHA512 = hashlib.sha512(BLOB.data).hexdigest()
MD5, SHA1 = hashlib.md5(BLOB.data).hexdigest(), hashlib.sha1(BLOB.data).hexdigest()

DIGESTS = {
    "upper case": f"sha256:{UPPER}",
    "mixed case": f"sha256:{MIXED}",
    "the algorithm in upper case": f"SHA256:{BLOB.hex}",
    "the algorithm in mixed case": f"Sha256:{BLOB.hex}",
    "63 digits": f"sha256:{BLOB.hex[:63]}",
    "65 digits": f"sha256:{BLOB.hex}0",
    "no digits": "sha256:",
    "no colon": f"sha256{BLOB.hex}",
    "two colons": f"sha256::{BLOB.hex}",
    "two digests": f"sha256:{BLOB.hex}:{BLOB.hex}",
    "no algorithm": BLOB.hex,
    "an empty algorithm": f":{BLOB.hex}",
    "not hexadecimal": f"sha256:{BLOB.hex[:63]}g",
    "a full-width digit": f"sha256:{BLOB.hex[:63]}%EF%BC%91",
    "full-width digits": "sha256:" + "%EF%BC%91" * 64,
    "a NUL": f"sha256:{BLOB.hex[:63]}%00",
    "a blank before": f"%20sha256:{BLOB.hex}",
    "a blank behind": f"sha256:{BLOB.hex}%20",
    "a line end behind": f"sha256:{BLOB.hex}%0a",
    "0x": f"sha256:0x{BLOB.hex[2:]}",
    "sha512": f"sha512:{SHA512}",
    "sha512, 64 digits": f"sha512:{BLOB.hex}",
    "sha256, 128 digits": f"sha256:{SHA512}",
    "md5": f"md5:{MD5}",
    "sha1": f"sha1:{SHA1}",
    "sha256+x": f"sha256+x:{BLOB.hex}",
}

# {} is the digest, as it stands in every path that names one.
REQUESTS = [
    ("GET", "/namespace/n/blobs/{}"), ("HEAD", "/namespace/n/blobs/{}"),
    ("POST", "/namespace/n/blobs/{}/uploads"), ("PATCH", "/namespace/n/blobs/{}/uploads/1"),
    ("PUT", "/namespace/n/blobs/{}/uploads/1"), ("GET", "/namespace/n/blobs/{}/uploads/1"),
    ("DELETE", "/namespace/n/blobs/{}/uploads/1"), ("POST", "/namespace/n/blobs/{}/prefetch"),
    ("GET", "/blobs/{}/locations"), ("DELETE", "/internal/blobs/{}"),
    ("POST", "/internal/blobs/{}/metainfo?piece_length=10"), ("POST", "/internal/blobs/{}/uploads"),
    ("PATCH", "/internal/blobs/{}/uploads/1"), ("PUT", "/internal/blobs/{}/uploads/1"),
    ("HEAD", "/internal/namespace/n/blobs/{}"), ("GET", "/internal/namespace/n/blobs/{}/metainfo"),
    ("PUT", "/internal/duplicate/namespace/n/blobs/{}/uploads/1"),
]

# In /cas the name is the bare number.
NUMBERS = {
    "upper case": UPPER, "mixed case": MIXED,
    "63 digits": BLOB.hex[:63], "65 digits": BLOB.hex + "0",
    "not hexadecimal": BLOB.hex[:63] + "g", "a NUL": BLOB.hex[:63] + "%00",
    "a full-width digit": BLOB.hex[:63] + "%EF%BC%91", "an algorithm": BLOB.digest,
    "sha512": SHA512, "a few digits": "abc", "0x": "0x" + BLOB.hex[2:],
    "a blank behind": BLOB.hex + "%20",
}


@pytest.fixture(autouse=True)
def nothing_changes(stored):
    with still_alive(stored):
        yield
    assert [path.parent.name for path in stored.blob_files()] == [BLOB.hex]
    with KrakenClient(stored) as client:
        client.assert_has(BLOB)


@pytest.mark.parametrize("digest", DIGESTS.values(), ids=DIGESTS.keys())
def test_another_spelling_is_400_wherever_a_digest_stands(stored, digest):
    for method, path in REQUESTS:
        headers = {"Content-Range": "0-500"} if method == "PATCH" else {}
        body = BLOB.data if method == "PATCH" else b""
        with Connection(stored.port) as connection:
            connection.send(request(method, path.format(digest), headers | {"Connection": "close"},
                                    body))
            assert connection.answer(method).status == 400, f"{method} {path}"


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS.keys())
def test_another_spelling_is_400_in_cas(stored, number):
    for method in ["GET", "HEAD", "PUT", "DELETE"]:
        body = BLOB.data if method == "PUT" else b""
        with Connection(stored.port) as connection:
            connection.send(request(method, f"/cas/{number}", {"Connection": "close"}, body))
            assert connection.answer(method).status == 400, method


def test_the_one_spelling_may_be_percent_encoded_and_is_still_the_same_blob(stored):
    with KrakenClient(stored) as client:
        encoded = "".join(f"%{ord(character):02X}" for character in BLOB.digest)
        assert client.get(encoded).body == BLOB.data
        assert client.start(encoded).status == 409
        assert client.request("PUT", f"/cas/%{ord(BLOB.hex[0]):02x}{BLOB.hex[1:]}",
                              BLOB.data).status == 200
