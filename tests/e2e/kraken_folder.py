"""A cache folder as a Kraken origin leaves it behind (kraken-formats-and-store.md, 2.2 and 2.4)."""

import os
from pathlib import Path

from blob import PIECE_LENGTH, Blob


def blob_folder(cache: Path, hex_digest: str) -> Path:
    return cache / hex_digest[:2] / hex_digest[2:4] / hex_digest


def last_access_bytes(unix_seconds: int) -> bytes:
    """A zig-zag varint in eight bytes."""
    number, out = unix_seconds << 1 if unix_seconds >= 0 else ~(unix_seconds << 1), bytearray()
    while number >= 0x80:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out).ljust(8, b"\0")


def put_blob(cache: Path, blob: Blob, last_access: int | None = None, metainfo: bool = False,
             persist: bool | None = None, mtime: float | None = None,
             piece_length: int = PIECE_LENGTH) -> Path:
    """Returns the blob's folder. Like Kraken, nothing is synced."""
    folder = blob_folder(cache, blob.hex)
    folder.mkdir(parents=True, exist_ok=True)
    if last_access is not None:
        (folder / "_last_access_time").write_bytes(last_access_bytes(last_access))
    if metainfo:
        (folder / "_torrentmeta").write_bytes(blob.metainfo(piece_length))
    if persist is not None:
        (folder / "_persist").write_bytes(b"true" if persist else b"false")
    (folder / "data").write_bytes(blob.data)
    if mtime is not None:
        os.utime(folder / "data", (mtime, mtime))
    return folder
