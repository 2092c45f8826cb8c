"""Case C38: hostile names. One request is one record of the log, on one line, whatever it holds."""

import random
import re

import pytest

from alive import still_alive
from blob import Blob
from connection import Connection, request
from daemon import FULL

REQUESTS = 10_000 if FULL else 1000
SECRET = "s3cr3t-t0k3n"

# time level=… event=… name=value…; a value is plain or quoted, with \xNN, \" and \\ in quotes.
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d level=[a-z]+ event=[a-z_0-9]+"
                  r"( [a-z_0-9]+=([!#-<>-\[\]-~]+|\"([ !#-\[\]-~]|\\x[0-9a-f]{2}|\\[\"\\])*…?\"))*")
FIELD = re.compile(r' ([a-z_0-9]+)=("(?:[^"\\]|\\.)*"|[^ "]+)')
FAKE = "FAKE level=info event=request status=200"
NASTY = ["%0a", "%0d%0a", "%1b%5b2J", "%22", "%5c", "%00", "%ff%fe", "%e2%80%a8", "%7f", "%",
         "%0aFAKE%20level=info%20event=request%20status=200", "\"", "\\", "=", "'", "a" * 8192,
         "%41" * 2800, "..", "%2e%2e%2f", "~", "x" * 513]
HEADERS = {"User-Agent": "x\x1b[2J\x9b31m", "Authorization": f"Bearer {SECRET}",
           "Cookie": f"token={SECRET}", "Referer": FAKE}
METHODS = ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "FOO", "x" * 100, "G\x1bT", "get"]


def hostile_request(chance: random.Random, number: int) -> tuple[str, bytes]:
    method = chance.choice(METHODS) + (str(number) if chance.random() < 0.1 else "")
    nasty = "".join(chance.choices(NASTY, k=chance.randint(1, 3)))
    digest = "sha256:" + chance.randbytes(32).hex()
    path = chance.choice([
        f"/namespace/n{number}{nasty}/blobs/{digest}", f"/namespace/{nasty}/blobs/{nasty}",
        f"/cas/{nasty}", f"/internal/blobs/{nasty}/uploads/{nasty}", f"/{nasty}",
        f"/namespace/{nasty}/blobs/{digest}/uploads", f"/blobs/{nasty}/locations?{nasty}={nasty}"])
    return method, request(method, path, HEADERS | {"Connection": "close"})


@pytest.mark.limit(300 if FULL else 120)
@pytest.mark.arguments(["--log-level", "debug"])
def test_a_request_is_one_line_that_can_be_read_back_whatever_it_holds(daemon):
    chance = random.Random(38)
    answered = 0
    with still_alive(daemon):
        already = len(daemon.log_path.read_bytes())
        for number in range(REQUESTS):
            method, head = hostile_request(chance, number)
            with Connection(daemon.port) as connection:
                connection.send(head)
                answer = connection.answer("HEAD" if method == "HEAD" else "GET")
                assert 400 <= answer.status < 500, (head[:200], answer)
                answered += 1
        text = daemon.log_path.read_bytes()[already:].decode("utf-8")

    lines = text.removesuffix("\n").split("\n")
    for line in lines:
        assert LINE.fullmatch(line), line
        assert len(line) < 8192
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028]", text)
    assert SECRET not in text
    records = [dict(FIELD.findall(line)) for line in lines if " event=request " in line]
    assert len(records) == answered == REQUESTS
    assert len({record["id"] for record in records}) == REQUESTS
    assert {"…" in record["path"] for record in records} == {True, False}, "long ones are marked"


@pytest.mark.arguments(["--log-level", "debug"])
def test_what_is_no_request_at_all_is_one_line_too(daemon):
    heads = [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), b"\x1b[2J\r\n\r\n",
             b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
             b"GET /a\r\nFAKE level=info HTTP/1.1\r\n\r\n",
             b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"]
    daemon.log_at_rest()
    for head in heads:
        already = len(daemon.log_path.read_bytes())
        with Connection(daemon.port) as connection:
            connection.send_until_answered(head)
            assert connection.answer().status in (400, 431)
        lines = daemon.log_path.read_bytes()[already:].decode().splitlines()
        assert len(lines) == 1, lines
        assert LINE.fullmatch(lines[0]), lines[0]
        assert " event=request " in lines[0]


@pytest.mark.arguments(["--log-level", "info"])
def test_at_the_usual_level_strangers_cannot_fill_the_log(daemon, client):
    already = daemon.log_at_rest()
    for number in range(300):
        assert client.request("GET", f"/cas/{number}").status == 400
        assert client.request("GET", f"/namespace/n/blobs/{Blob.random(9).digest}").status == 404
    assert daemon.log(already) == ""
