"""What else a head may be: too large, of an unknown method, of HTTP/1.0. Where one request ends and
the next begins: cases C14 to C16."""

import pytest

from blob import KIB, Blob
from connection import Connection, request


@pytest.mark.parametrize("fields", [{"X-Filler": "f" * 256 * KIB},
                                    {f"X-{number}": "f" * 20 for number in range(10000)}],
                         ids=["one long line", "many lines"])
def test_a_header_above_the_limit_is_431(shared_daemon, fields):
    with Connection(shared_daemon.port) as connection:
        connection.send_until_answered(request("GET", "/health", fields))
        assert connection.answer().status == 431
        assert connection.is_closed()


def test_a_target_above_the_limit_is_refused(shared_daemon):
    with Connection(shared_daemon.port) as connection:
        connection.send_until_answered(request("GET", "/" + "a" * 256 * KIB))
        assert connection.answer().status in (400, 414, 431)


@pytest.mark.parametrize("method", ["FOO", "get", "PRI", "TRACE", "CONNECT"])
def test_an_unknown_method_is_refused(shared_daemon, method):
    with Connection(shared_daemon.port) as connection:
        connection.send(request(method, "/health", {"Connection": "close"}))
        assert connection.answer().status in (400, 405, 501)


def test_http_1_0_is_answered_and_closed(daemon, client):
    blob = Blob.random(100 * KIB)
    assert client.upload(blob) == 200
    for host in (None, "localhost"):
        with Connection(daemon.port) as connection:
            connection.send(request("GET", f"/cas/{blob.hex}", version="HTTP/1.0", host=host))
            answers = connection.answers_until_closed()
        assert [(a.status, a.body) for a in answers] == [(200, blob.data)]
        assert answers[0].header("Transfer-Encoding") is None
        assert answers[0].header("Content-Length") == str(blob.size)


def test_an_upload_through_kraken_s_nginx(daemon, client):
    """It speaks HTTP/1.0 with Host: localhost and Connection: close, a connection a request."""
    blob = Blob.random(100 * KIB)

    def send(method: str, path: str, fields: dict, body: bytes = b""):
        with Connection(daemon.port) as connection:
            connection.send(request(method, path, {"Connection": "close"} | fields, body,
                                    version="HTTP/1.0", host="localhost"))
            answers = connection.answers_until_closed()
        assert len(answers) == 1
        assert answers[0].status == 200 and answers[0].is_empty(), answers
        return answers[0]

    uploads = f"{client.blob_path(blob.digest)}/uploads"
    upload = f"{uploads}/{send('POST', uploads, {'Content-Length': 0}).header('Location')}"
    send("PATCH", upload, {"Content-Range": f"0-{blob.size}"}, blob.data)
    send("PUT", upload, {})
    client.assert_has(blob)
