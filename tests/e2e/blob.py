"""Content with its digest and metainfo, computed here and not by the daemon."""

import hashlib
import json
import random
import zlib
from dataclasses import dataclass
from functools import cached_property

KIB = 1024
MIB = 1024 * 1024
PIECE_LENGTH = 4 * MIB  # The daemon's default.
RANDOM_BYTES_MAX = 128 * MIB


@dataclass(frozen=True)
class Blob:
    data: bytes

    @classmethod
    def random(cls, size: int, seed: object = 0) -> "Blob":
        """`size` bytes that only depend on `seed` and the size."""
        chance = random.Random(f"{seed}/{size}")
        # randbytes cannot make 256 MiB at once: Python counts its bits in an int of C.
        return cls(b"".join(chance.randbytes(min(size - at, RANDOM_BYTES_MAX))
                            for at in range(0, size, RANDOM_BYTES_MAX)))

    @cached_property
    def hex(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def digest(self) -> str:
        return f"sha256:{self.hex}"

    @property
    def size(self) -> int:
        return len(self.data)

    def metainfo(self, piece_length: int = PIECE_LENGTH) -> bytes:
        """The body of GET …/metainfo (kraken-origin-http.md, section 4): CRC-32 a piece."""
        sums = [zlib.crc32(self.data[at:at + piece_length])
                for at in range(0, self.size, piece_length)]
        info = {"PieceLength": piece_length, "PieceSums": sums or None, "Name": self.hex,
                "Length": self.size}
        return json.dumps({"Info": info}, separators=(",", ":")).encode()

    def __repr__(self) -> str:
        return f"Blob({self.size} bytes, {self.hex[:12]})"


EMPTY = Blob(b"")
