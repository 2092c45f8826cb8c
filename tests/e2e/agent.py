"""The side of a Kraken agent in the piece exchange (kraken-p2p.md), scripted."""

import hashlib
import json
import socket
import struct
import zlib

from blob import Blob

BITFIELD, REQUEST, PAYLOAD, ANNOUNCE, CANCEL, ERROR, COMPLETE = range(7)
FIELD_OF = {BITFIELD: 3, REQUEST: 4, PAYLOAD: 5, ANNOUNCE: 6, CANCEL: 7, ERROR: 8}


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value) if value else b""


def text(field: int, value: bytes | str) -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def frame(message: bytes) -> bytes:
    return struct.pack(">I", len(message)) + message


def message(kind: int, body: bytes | None) -> bytes:
    """With its submessage, unless `body` is None."""
    submessage = b"" if body is None or kind == COMPLETE else text(FIELD_OF[kind], body)
    return frame(number(2, kind) + submessage)


def request(index: int, length: int, offset: int = 0) -> bytes:
    return message(REQUEST, number(2, index) + number(3, offset) + number(4, length))


def bitset(bits: int, words: int | None = None) -> bytes:
    return struct.pack(">Q", bits) + bytes(8 * ((bits + 63) // 64 if words is None else words))


def fields(data: bytes) -> dict[int, int | bytes]:
    found, at = {}, 0

    def take() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            if byte < 0x80:
                return value
            shift += 7
    while at < len(data):
        tag = take()
        if tag & 7 == 0:
            found[tag >> 3] = take()
        else:
            assert tag & 7 == 2
            length = take()
            found[tag >> 3] = data[at:at + length]
            at += length
    return found


def infohash(metainfo: bytes) -> str:
    info = json.loads(metainfo)["Info"]
    sums = b"".join(b"i%de" % one for one in info["PieceSums"] or [])
    name = info["Name"].encode()
    return hashlib.sha1(b"d6:Lengthi%de4:Name%d:%s11:PieceLengthi%de9:PieceSumsl%see" % (
        info["Length"], len(name), name, info["PieceLength"], sums)).hexdigest()


class Agent:
    """One connection for one torrent."""

    def __init__(self, port: int, blob: Blob, metainfo: bytes, name: object = 0,
                 timeout: float = 10, source: str = "127.0.0.1"):
        self.blob, self.infohash = blob, infohash(metainfo)
        info = json.loads(metainfo)["Info"]
        self.piece_length, self.sums = info["PieceLength"], info["PieceSums"] or []
        self.id = hashlib.sha1(str(name).encode()).hexdigest()
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout,
                                               source_address=(source, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def handshake(self, **other: bytes) -> bytes:
        parts = {"infohash": self.infohash, "name": self.blob.hex, "id": self.id,
                 "bitfield": bitset(len(self.sums)), "namespace": b"library/test",
                 "more": b""} | other
        return message(BITFIELD, text(2, parts["infohash"]) + text(3, parts["name"])
                       + text(4, parts["id"]) + text(5, parts["bitfield"])
                       + text(6, parts["namespace"]) + parts["more"])

    def greet(self, **other: bytes) -> dict[int, bytes]:
        """The daemon's handshake, by field."""
        self.socket.sendall(self.handshake(**other))
        answer = fields(self.read_frame())
        assert 2 not in answer, "type 0 is invisible"
        return fields(answer[3])

    def length_of(self, index: int) -> int:
        return min(self.piece_length, self.blob.size - index * self.piece_length)

    def ask(self, index: int) -> None:
        self.socket.sendall(request(index, self.length_of(index)))

    def read(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            part = self.socket.recv(min(count - len(data), 1 << 20))
            if not part:
                raise EOFError(f"closed after {len(data)} of {count} bytes")
            data += part
        return bytes(data)

    def read_frame(self) -> bytes:
        return self.read(struct.unpack(">I", self.read(4))[0])

    def take_piece(self) -> tuple[int, bytes]:
        """The next payload, its sum compared."""
        got = fields(self.read_frame())
        assert got[2] == PAYLOAD, got
        payload = fields(got[5])
        index = payload.get(2, 0)
        data = self.read(payload[4])
        assert len(data) == self.length_of(index)
        assert zlib.crc32(data) == self.sums[index]
        return index, data

    def download(self, pipeline: int = 5) -> bytes:
        """All pieces, as an agent takes them."""
        left = list(range(len(self.sums)))
        pieces: dict[int, bytes] = {}
        for index in left[:pipeline]:
            self.ask(index)
        del left[:pipeline]
        while len(pieces) < len(self.sums):
            index, data = self.take_piece()
            pieces[index] = data
            if left:
                self.ask(left.pop(0))
        return b"".join(pieces[index] for index in sorted(pieces))

    def is_closed(self, within: float = 10) -> bool:
        """Without another byte."""
        self.socket.settimeout(within)
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False
