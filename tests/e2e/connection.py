"""One TCP connection on which a test decides about every byte."""

import http.client
import io
import re
import select
import socket
import time
from dataclasses import dataclass

STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5]\d\d) ?[^\r\n]*")


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def header(self, name: str) -> str | None:
        """The value, or None. A header that must stand once may not stand twice."""
        values = self.headers.get_all(name) or []
        assert len(values) <= 1, f"{name} stands {len(values)} times: {values}"
        return values[0] if values else None

    def is_empty(self) -> bool:
        """No body, and said so in the way Kraken's client needs to keep its connection."""
        return self.body == b"" and self.header("Content-Length") == "0"


class Closed(Exception):
    """The daemon closed the connection in the middle of, or in place of, an answer."""


def request(method: str, path: str, headers: dict[str, object] | None = None, body: bytes = b"",
            version: str = "HTTP/1.1", host: str | None = "x") -> bytes:
    """The bytes of a request. Content-Length is added when there is a body and no other framing."""
    lines = [f"{method} {path} {version}"]
    if host is not None:
        lines.append(f"Host: {host}")
    given = {name.lower() for name in headers or {}}
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if body and not given & {"content-length", "transfer-encoding"}:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def chunked(data: bytes, chunk: int = 4096, end: bool = True) -> bytes:
    """`data` in the chunked transfer coding; without `end` the last-chunk is missing."""
    out = [b"%x\r\n%s\r\n" % (len(part), part)
           for part in (data[at:at + chunk] for at in range(0, len(data), chunk))]
    return b"".join(out) + (b"0\r\n\r\n" if end else b"")


def poll(one: socket.socket, events: int, seconds: float) -> int:
    """The events that happened, or that it ended; 0 after that time. select() cannot take sockets
    above 1023, and some tests have thousands."""
    poller = select.poll()
    poller.register(one, events)
    return dict(poller.poll(seconds * 1000)).get(one.fileno(), 0)


class Connection:
    """Closes itself at the end of its `with`. Every wait is bounded by `timeout`."""

    def __init__(self, port: int, timeout: float = 15.0):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.timeout = timeout
        self.was_reset = False  # The daemon ended it so that a client may lose what it sent.
        self._received = b""

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send_until_answered(self, data: bytes) -> int:
        """Sends as curl and Go do: stops as soon as the daemon has said something, or is gone.

        Returns how many bytes were sent.
        """
        view, sent = memoryview(data), 0
        while sent < len(view):
            events = poll(self.socket, select.POLLIN | select.POLLOUT, self.timeout)
            if events & ~select.POLLOUT:
                break
            if not events:
                raise TimeoutError("the daemon neither reads nor answers")
            try:
                sent += self.socket.send(view[sent:sent + 65536])
            except (BrokenPipeError, ConnectionResetError):
                break
        return sent

    def half_close(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def answer(self, method: str = "GET") -> Answer:
        """The next answer, read exactly to its end; `method` is that of its request."""
        head = self._through(b"\r\n\r\n")
        line, _, fields = head.partition(b"\r\n")
        match = STATUS_LINE.fullmatch(line)
        assert match, f"not a status line: {line!r}"
        status = int(match.group(1))
        headers = http.client.parse_headers(io.BytesIO(fields))
        return Answer(status, headers, self._body(method, status, headers))

    def answers_until_closed(self) -> list[Answer]:
        """All answers (to other requests than HEAD) until the daemon closes."""
        answers = []
        while not self.is_closed():
            answers.append(self.answer())
        return answers

    def is_closed(self) -> bool:
        """Waits for a byte or for the end; True if it is the end. A reset is an end."""
        return not self._received and not self._receive()

    def closes_within(self, seconds: float) -> float | None:
        """The seconds until the daemon closed without another byte; None if it did not."""
        begun = time.monotonic()
        self.socket.settimeout(seconds)
        try:
            return time.monotonic() - begun if self.is_closed() else None
        except TimeoutError:
            return None
        finally:
            self.socket.settimeout(self.timeout)

    def silent_for(self, seconds: float) -> bool:
        """True if the daemon says nothing and does not close for so long."""
        return not self._received and not poll(self.socket, select.POLLIN, seconds)

    def _receive(self) -> bool:
        try:
            data = self.socket.recv(1 << 18)
        except (ConnectionResetError, BrokenPipeError):
            data, self.was_reset = b"", True
        self._received += data
        return bool(data)

    def _through(self, mark: bytes) -> bytes:
        while mark not in self._received:
            if not self._receive():
                raise Closed(f"closed after {self._received[:200]!r}")
        head, _, self._received = self._received.partition(mark)
        return head + mark

    def _exactly(self, count: int) -> bytes:
        parts, have = [self._received[:count]], min(count, len(self._received))
        self._received = self._received[count:]
        while have < count:
            if not self._receive():
                raise Closed(f"closed after {have} of {count} bytes of a body")
            parts.append(self._received[:count - have])
            self._received = self._received[count - have:]
            have += len(parts[-1])
        return b"".join(parts)

    def _body(self, method: str, status: int, headers: http.client.HTTPMessage) -> bytes:
        if method == "HEAD" or status < 200 or status in (204, 304):
            return b""
        if headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = b""
            while size := int(self._through(b"\r\n"), 16):
                body += self._exactly(size)
                assert self._exactly(2) == b"\r\n", "a chunk without its line end"
            self._through(b"\r\n")
            return body
        if (length := headers.get("Content-Length")) is not None:
            return self._exactly(int(length))
        while self._receive():
            pass
        body, self._received = self._received, b""
        return body
