"""A request that hides in the bytes of another one. If it is answered, they were taken for one."""

from blob import Blob
from connection import request
from daemon import Daemon
from kraken_client import KrakenClient

SMUGGLED = request("GET", "/SMUGGLED")
HEALTH_AND_CLOSE = request("GET", "/health", {"Connection": "close"})
ALL_LOGGED = {"log.level": "debug"}  # Below it the log is silent about requests that succeed.


def log_end(daemon: Daemon) -> int:
    return daemon.log_path.stat().st_size


def assert_not_smuggled(daemon: Daemon, log_from: int = 0) -> None:
    """Nothing was answered to it, as the log tells, which is seen to tell of a request after it.
    The daemon logs all requests (ALL_LOGGED)."""
    last = Blob(f"seen {log_end(daemon)}".encode())
    with KrakenClient(daemon) as client:
        assert client.request("GET", "/health").body == b"OK\n"
        assert client.get(last.digest).status == 404
    log = daemon.log(log_from)
    assert last.hex in log, "requests are not logged: this test would prove nothing"
    assert "/SMUGGLED" not in log
