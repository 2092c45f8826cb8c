"""Fixtures and the hard time-out of every end-to-end test."""

import signal
import sys
from pathlib import Path

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

import alive  # noqa: E402  (needs the path above)
from daemon import BINARY, Daemon  # noqa: E402
from kraken_client import KrakenClient  # noqa: E402

SECONDS_MAX = 60


def pytest_configure(config):
    config.addinivalue_line("markers", f"limit(seconds): hard time-out, if not {SECONDS_MAX} s")
    config.addinivalue_line("markers", "settings(values): the daemon's --set keys, as a dict")
    config.addinivalue_line("markers", "arguments(list): further arguments of the daemon")


def pytest_sessionstart(session):
    if not BINARY.exists():
        pytest.exit(f"no daemon at {BINARY}: build it, or name it in ORLOP_BINARY", returncode=1)


@pytest.fixture(autouse=True)
def hard_time_out(request):
    """A hanging daemon is a failure that must be reported, not a hanging test run."""
    mark = request.node.get_closest_marker("limit")
    seconds = mark.args[0] if mark else SECONDS_MAX

    def stop(*_):
        raise TimeoutError(f"the test is not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def daemon(request, hard_time_out):
    """A running daemon on a new folder, for this test alone."""
    settings = request.node.get_closest_marker("settings")
    arguments = request.node.get_closest_marker("arguments")
    with Daemon(settings.args[0] if settings else None,
                arguments.args[0] if arguments else None) as running:
        yield running


@pytest.fixture(scope="module")
def shared_daemon():
    """One daemon for all cases of a file: for those that leave nothing behind."""
    with Daemon() as running:
        yield running


@pytest.fixture
def client(daemon):
    with KrakenClient(daemon) as connected:
        yield connected


@pytest.fixture(scope="module")
def stored(request):
    """The same, and it has the file's BLOB."""
    with Daemon() as running, KrakenClient(running) as connected:
        assert connected.upload(request.module.BLOB) == 200
        yield running


@pytest.fixture
def shared_client(shared_daemon):
    with KrakenClient(shared_daemon) as connected:
        yield connected


@pytest.fixture
def still_alive(request):
    """For `usefixtures`, so that it is set up before the test's own clients and asks after they are
    closed: the daemon of the test is as well after it as before (alive.py)."""
    own = "daemon" in request.fixturenames
    with alive.still_alive(request.getfixturevalue("daemon" if own else "shared_daemon")):
        yield
