"""C12: no part of a path is ever a path in the file system."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from blob import Blob
from connection import Connection, request
from daemon import Daemon
from kraken_client import NAMESPACE, KrakenClient

pytestmark = pytest.mark.usefixtures("still_alive")

STORED, ABSENT = Blob.random(500, "traversal"), Blob(b"absent")

# The case's own come first.
HOSTILE = ["..", "%2e%2e", "..%2f..%2fetc", "%2fetc%2fpasswd", "a%2f..%2f..%2fb", ".", "",
           "x" * 300, "_upload", "con%00",
           "%2e", "%2e%2e%2fcache", "..%2fcache", "../../etc/passwd", "..%5c..%5cetc", "%252e%252e",
           "data", "-", "0" * 32, f"{'0' * 32}-..%2f..%2f", "~", "%7e", "*", "%0d%0a",
           "%c0%ae%c0%ae"]
TARGETS = ["http://x/../../etc/passwd", "http://x/etc/passwd", "//etc/passwd", "/../etc/passwd",
           "/cas/../../etc/passwd", "/cas//etc/passwd", "*", "/namespace/n/blobs/../../..",
           "/./health", "/health/../health", "etc/passwd", "/", "//", "/%2e%2e/%2e%2e/etc/passwd",
           f"/cas/{STORED.hex}/../{STORED.hex}", f"//cas/{STORED.hex}", "file:///etc/passwd"]


def status_of(daemon, method: str, path: str, body: bytes = b"") -> int:
    """Byte for byte as it stands here: no client cleans the path."""
    headers = {"Connection": "close"} | ({"Content-Range": "0-1"} if method == "PATCH" else {})
    with Connection(daemon.port) as connection:
        connection.send(request(method, path, headers, body))
        answer = connection.answer(method)
    assert b"root:" not in answer.body
    return answer.status


def attack_ids(daemon, name: str) -> set[int]:
    uploads = f"/namespace/{NAMESPACE}/blobs/{ABSENT.digest}/uploads"
    internal = f"/internal/blobs/{ABSENT.digest}/uploads"
    return {status_of(daemon, method, f"{path}/{name}", body)
            for path in [uploads, internal]
            for method, body in [("PATCH", b"x"), ("PUT", b""), ("GET", b""), ("DELETE", b"")]
            } | {status_of(daemon, "PUT", f"/internal/duplicate{uploads}/{name}", b'{"Delay":0}')}


def attack_digests(daemon, name: str) -> set[int]:
    return {status_of(daemon, method, path.format(name), body) for method, path, body in [
        ("GET", f"/namespace/{NAMESPACE}/blobs/{{}}", b""),
        ("POST", f"/namespace/{NAMESPACE}/blobs/{{}}/uploads", b""),
        ("POST", f"/namespace/{NAMESPACE}/blobs/{{}}/prefetch", b""),
        ("GET", "/blobs/{}/locations", b""), ("DELETE", "/internal/blobs/{}", b""),
        ("POST", "/internal/blobs/{}/metainfo?piece_length=1", b""),
        ("HEAD", f"/internal/namespace/{NAMESPACE}/blobs/{{}}", b""),
        ("GET", f"/internal/namespace/{NAMESPACE}/blobs/{{}}/metainfo", b""),
        ("GET", "/cas/{}", b""), ("HEAD", "/cas/{}", b""), ("PUT", "/cas/{}", b"x"),
        ("DELETE", "/cas/{}", b"")]}


def attack_namespaces(daemon, name: str) -> set[int]:
    """With a digest that is not here: whatever the namespace is, there is nothing in it."""
    return {status_of(daemon, method, path.format(name)) for method, path in [
        ("GET", f"/namespace/{{}}/blobs/{ABSENT.digest}"),
        ("POST", f"/namespace/{{}}/blobs/{ABSENT.digest}/prefetch"),
        ("HEAD", f"/internal/namespace/{{}}/blobs/{ABSENT.digest}"),
        ("GET", f"/internal/namespace/{{}}/blobs/{ABSENT.digest}/metainfo"),
        ("PUT", f"/namespace/{{}}/blobs/{ABSENT.digest}/uploads/1")]}


def assert_folder_is_clean(daemon) -> None:
    assert sorted(path.name for path in daemon.folder.iterdir()) == ["data", "log"]
    assert sorted(path.name for path in daemon.data.iterdir()) == ["cache", "db", "upload"]
    assert daemon.upload_files_after_settling() == []
    for path in (daemon.data / "cache").rglob("*"):
        depth = len(path.relative_to(daemon.data / "cache").parts)
        assert re.fullmatch(["", "[0-9a-f]{2}", "[0-9a-f]{2}", "[0-9a-f]{64}", "data"][depth],
                            path.name), f"a strange name: {path}"


@pytest.mark.parametrize("attack", [attack_ids, attack_digests, attack_namespaces])
@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: name[:24] or "empty")
def test_a_hostile_name_is_400_or_404(shared_daemon, name, attack):
    assert attack(shared_daemon, name) <= {400, 404}
    assert_folder_is_clean(shared_daemon)


@pytest.mark.parametrize("target", TARGETS)
def test_a_hostile_target_never_reaches_a_file(shared_daemon, target):
    for method, body in [("GET", b""), ("PUT", b"x"), ("DELETE", b"")]:
        status = status_of(shared_daemon, method, target, body)
        # An unclean path is unrouted; where the path exists with another method it is 405.
        assert status in (400, 404, 405), f"{method}: {status}"
    assert_folder_is_clean(shared_daemon)


@pytest.mark.parametrize("name, status", [
    ("..", 200), (".", 200), ("%2e%2e", 200), ("..%2f..%2fetc", 200), ("%2fetc%2fpasswd", 200),
    ("a%2f..%2f..%2fb", 200), ("_upload", 200), ("x" * 300, 200), ("repo%2Fimage:latest", 200),
    ("%E2%82%AC", 200), ("a%0aFAKE%20status=200", 200),
    ("", 400), ("con%00", 400), ("%ff", 400), ("%c0%ae", 400)])
def test_a_namespace_is_an_opaque_key_and_never_a_path(daemon, client, name, status):
    """In the original a namespace names a backend and nothing else, so any text is one."""
    client.namespace = name
    start = client.start(STORED.digest)
    assert start.status == status
    if status == 200:
        upload = client.upload_path(STORED.digest, start.header("Location"))
        assert client.patch(STORED.digest, start.header("Location"), 0, STORED.data).status == 200
        # A duplicate commit records a task under the namespace, in the database.
        assert client.request("PUT", f"/internal/duplicate{upload}", b'{"Delay":0}').status == 200
        client.assert_has(STORED)
    assert_folder_is_clean(daemon)
    assert "\nFAKE" not in daemon.log()


def strace(output: Path) -> list[str]:
    return ["strace", "-D", "-f", "-y", "-qq", "-e", "trace=%file", "-e", "signal=none",
            "-s", "4096", "-o", str(output)]


@pytest.fixture
def traced(tmp_path):
    """A daemon each of whose system calls with a path is written down."""
    assert shutil.which("strace"), "install strace, or run ./dev test, which does"
    probe = subprocess.run([*strace(tmp_path / "probe"), "true"], capture_output=True, timeout=20)
    if probe.returncode != 0 or "ptrace" in (probe.stderr or b"").decode():
        pytest.skip(f"strace may not trace here: {probe.stderr.decode().strip()}")
    output = tmp_path / "trace"
    with Daemon(wrapper=strace(output)) as daemon:
        yield daemon, output


# `openat(5</data/cache>, "ab/cd", …` and `mkdir("/data", …`: the folder, if any, and the path.
PATHS = re.compile(r'(?:(?:AT_FDCWD|\d+)<(?P<folder>[^>]*)>, )?"(?P<path>(?:[^"\\]|\\.)*)"')


def paths_in(trace: str, working_folder: Path) -> set[str]:
    """Where each path of each call leads, without asking the file system (it may not exist)."""
    found = set()
    for call in trace.splitlines():
        for match in PATHS.finditer(call):
            folder = Path(match["folder"] or working_folder)
            found.add(str(folder / match["path"]))
    return found


@pytest.mark.limit(180)
def test_no_system_call_leaves_the_data_folder(traced):
    daemon, output = traced
    with KrakenClient(daemon) as client:
        assert client.upload(STORED) == 200
    before = output.stat().st_size
    for name in HOSTILE:
        for attack in [attack_ids, attack_digests, attack_namespaces]:
            assert attack(daemon, name) <= {400, 404}, f"{attack.__name__}: {name}"
    for target in TARGETS:
        assert status_of(daemon, "GET", target) in (400, 404)
    with KrakenClient(daemon, namespace="..%2f..%2fetc") as client:
        second = Blob.random(500, "second")
        assert client.upload(second) == 200
        client.assert_has(second)
        client.assert_has(STORED)
    trace = output.read_bytes()[before:].decode("utf-8", "replace")
    paths = paths_in(trace, daemon.folder)
    assert any(second.hex in path for path in paths), "strace has seen nothing"
    outside = {path for path in paths
               if not path.startswith(f"{daemon.data}/") and path != str(daemon.data)}
    assert outside == set()
    assert {path for path in paths if ".." in Path(path).parts} == set()
    assert re.search(r"passwd|_upload|/etc|con\\0|xxxx", "\n".join(paths)) is None
    assert_folder_is_clean(daemon)
