"""Kraken's dialect of the origin API, as its own clients speak it: strictly one request at a time,
on a connection that is kept."""

import http.client
from collections.abc import Iterable

from blob import MIB, Blob
from connection import Answer
from daemon import Daemon

NAMESPACE = "team%2Fapp"
UNKNOWN_UPLOAD = "00000000-0000-0000-0000-000000000000"


class KrakenClient:
    """Not thread-safe: one client a thread. Reconnects when the daemon has closed."""

    def __init__(self, daemon: Daemon, namespace: str = NAMESPACE, timeout: float = 40.0):
        self.namespace = namespace
        self._http = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=timeout)

    def __enter__(self) -> "KrakenClient":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def request(self, method: str, path: str, body: bytes | Iterable[bytes] | None = None,
                headers: dict[str, str] | None = None) -> Answer:
        """A body that is an iterable of parts is sent in the chunked transfer coding."""
        headers = dict(headers or {})
        in_chunks = body is not None and not isinstance(body, (bytes, memoryview))
        if in_chunks:
            headers["Transfer-Encoding"] = "chunked"
        try:
            self._http.request(method, path, body=body, headers=headers, encode_chunked=in_chunks)
            response = self._http.getresponse()
            return Answer(response.status, response.headers, response.read())
        except BaseException:
            self._http.close()
            raise

    def blob_path(self, digest: str) -> str:
        return f"/namespace/{self.namespace}/blobs/{digest}"

    def upload_path(self, digest: str, uid: str) -> str:
        return f"{self.blob_path(digest)}/uploads/{uid}"

    def start(self, digest: str) -> Answer:
        return self.request("POST", f"{self.blob_path(digest)}/uploads")

    def begin(self, digest: str) -> str:
        """Starts an upload that must be new; returns its id."""
        answer = self.start(digest)
        assert answer.status == 200, f"start: {answer}"
        assert answer.is_empty(), f"start: {answer}"
        uid = answer.header("Location")
        assert uid, f"start without Location: {answer}"
        assert "/" not in uid, f"Location must be a bare id: {uid}"
        return uid

    def patch(self, digest: str, uid: str, at: int, data: bytes | Iterable[bytes],
              end: int | None = None) -> Answer:
        """`end` (exclusive, as Kraken counts) follows from the data unless a test lies about it."""
        through = at + len(data) if end is None else end
        return self.request("PATCH", self.upload_path(digest, uid), body=data,
                            headers={"Content-Range": f"{at}-{through}"})

    def commit(self, digest: str, uid: str) -> Answer:
        return self.request("PUT", self.upload_path(digest, uid))

    def progress(self, digest: str, uid: str) -> int | None:
        """How far the upload is (ours, not Kraken's); None if there is no such upload."""
        answer = self.request("GET", self.upload_path(digest, uid))
        if answer.status == 404:
            return None
        assert answer.status == 204, f"upload status: {answer}"
        return int(answer.header("Upload-Offset"))

    def cancel(self, digest: str, uid: str) -> Answer:
        return self.request("DELETE", self.upload_path(digest, uid))

    def upload(self, blob: Blob, chunk: int = 32 * MIB) -> int:
        """Start, chunks, commit. Returns 200, or 409 as soon as one is answered (also success)."""
        start = self.start(blob.digest)
        if start.status == 409:
            return 409
        assert start.status == 200, f"start of {blob}: {start}"
        uid = start.header("Location")
        for at in range(0, blob.size, chunk):
            patch = self.patch(blob.digest, uid, at, blob.data[at:at + chunk])
            if patch.status == 409:
                return 409
            assert patch.status == 200, f"chunk at {at} of {blob}: {patch}"
        commit = self.commit(blob.digest, uid)
        assert commit.status in (200, 409), f"commit of {blob}: {commit}"
        return commit.status

    def get(self, digest: str, headers: dict[str, str] | None = None) -> Answer:
        return self.request("GET", self.blob_path(digest), headers=headers)

    def stat(self, digest: str) -> Answer:
        return self.request("HEAD", f"/internal{self.blob_path(digest)}")

    def metainfo(self, digest: str) -> Answer:
        return self.request("GET", f"/internal{self.blob_path(digest)}/metainfo")

    def delete(self, digest: str) -> Answer:
        return self.request("DELETE", f"/internal/blobs/{digest}")

    def assert_has(self, blob: Blob) -> None:
        """The blob is here: bytes, size and metainfo, each exact."""
        got = self.get(blob.digest)
        assert got.status == 200, f"{blob}: {got.status} {got.body[:200]!r}"
        assert got.header("Content-Length") == str(blob.size)
        assert got.body == blob.data, f"{blob}: wrong bytes"
        stat = self.stat(blob.digest)
        assert (stat.status, stat.header("Content-Length")) == (200, str(blob.size))
        metainfo = self.metainfo(blob.digest)
        assert (metainfo.status, metainfo.body) == (200, blob.metainfo())

    def assert_lacks(self, blob: Blob) -> None:
        """The blob is not here, on any way that could find it."""
        assert self.get(blob.digest).status == 404
        assert self.stat(blob.digest).status == 404
        assert self.metainfo(blob.digest).status == 404
        assert self.request("GET", f"/cas/{blob.hex}").status == 404
