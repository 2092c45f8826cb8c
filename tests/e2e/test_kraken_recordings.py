"""Replays 125 exchanges recorded from the original origin (tests/golden/http.json) against ours."""

import hashlib
import json
import re
from dataclasses import dataclass

import pytest

from blob import EMPTY, Blob
from connection import Answer
from daemon import REPOSITORY, Daemon
from kraken_client import KrakenClient

RECORDINGS = json.loads((REPOSITORY / "tests/golden/http.json").read_text())["scenarios"]
NOT_REPLAYED = {
    "refresh from the backend": "needs a backend",
    "remote replication to an unknown host": "needs a cluster",
}
SCENARIOS = [recording for recording in RECORDINGS if recording["scenario"] not in NOT_REPLAYED]
THE_RECORDED_LABEL = "127.0.0.1:15002"
OUR_UPLOAD_ID = re.compile(r"[0-9a-f]{32}-[0-9a-f]{8}")

BLOBS = {
    "A": Blob(b"hello world"),
    "B": Blob(b"abcdefghij" * 2),
    "C": Blob(b"remote blob content"),
    "D": Blob(bytes((7 * i + i // 251 + 3) % 256 for i in range(70000))),
    "E": EMPTY,
    "ABSENT": Blob(b"absent"),
}


@dataclass(frozen=True)
class Difference:
    """An answer in which we differ from the original on purpose."""

    recorded: int
    ours: int
    reason: str
    header: str | None = None  # A header that our answer must have.
    body: str | None = None  # A pattern that our body must match.


WRONG_METHOD = "a wrong method is 405 with Allow: 404 looks like 'blob not found'"
BAD_INPUT = "the client's mistake is 400: 500 blames us, and makes clients give up on the origin"
HEAD_EVERYWHERE = "HEAD is answered wherever GET is"
FIRST_FORM = "/namespace/team%2Fapp/blobs/{ABSENT}/uploads/{uid}"

# Scenario, number of the step in it from 1, its method and path, and what differs.
DIFFERENCES = {
    ("health and readiness", 3, "HEAD /health"): Difference(404, 200, HEAD_EVERYWHERE),
    ("health and readiness", 5, "PUT /health"):
        Difference(404, 405, WRONG_METHOD, header="Allow"),
    ("upload in one chunk, then everything about it", 8,
     "HEAD /internal/namespace/team%2Fapp/blobs/{A}?local=maybe"): Difference(500, 400, BAD_INPUT),
    ("large blob, metainfo with several piece lengths", 14,
     "POST /internal/blobs/{D}/metainfo?piece_length=0"): Difference(500, 400, BAD_INPUT),
    ("large blob, metainfo with several piece lengths", 16,
     "POST /internal/blobs/{D}/metainfo?piece_length=-1"): Difference(500, 400, BAD_INPUT),
    ("Content-Range forms", 12, f"PATCH {FIRST_FORM}"):
        Difference(200, 400, "an end before the start is a client's bug, not an empty chunk"),
    ("Content-Range forms", 13, f"PATCH {FIRST_FORM}"):
        Difference(200, 400, "surplus bytes are refused, not dropped in silence"),
    ("short body of a chunk", 2, f"PATCH {FIRST_FORM}"): Difference(500, 400, BAD_INPUT),
    ("commit of wrong bytes", 3, f"PUT {FIRST_FORM}"):
        Difference(500, 400, BAD_INPUT, body=r"sha256:20d97139f4e2[0-9a-f]{52}(?s:.*)"
                                             r"sha256:5ad38304b535[0-9a-f]{52}"),
    ("duplicate commit", 6,
     "PUT /internal/duplicate/namespace/team%2Fapp/blobs/{B}/uploads/{uid}"):
        Difference(500, 400, BAD_INPUT),
    ("clean-up", 4, "POST /forcecleanup/v2"):
        Difference(501, 400, "v2 works in ours, and both parameters are required"),
    ("clean-up", 5, "POST /forcecleanup/v2?target_util_percent=50&respect_eviction_ban=true"):
        Difference(501, 200, "v2 works in ours", body=r'^\{"new_util":\d+\}\n$'),
    ("wrong methods", 1, "DELETE /namespace/team%2Fapp/blobs/{A}"):
        Difference(404, 405, WRONG_METHOD, header="Allow"),
    ("wrong methods", 2, "PUT /namespace/team%2Fapp/blobs/{A}"):
        Difference(404, 405, WRONG_METHOD, header="Allow"),
    ("wrong methods", 3, "GET /forcecleanup"):
        Difference(404, 405, WRONG_METHOD, header="Allow"),
    ("wrong methods", 4, "POST /namespace/team%2Fapp/blobs/{A}"):
        Difference(404, 405, WRONG_METHOD, header="Allow"),
}


def key_of(scenario: str, number: int, recorded_request: dict) -> tuple[str, int, str]:
    return scenario, number, f"{recorded_request['method']} {recorded_request['path']}"


def body_of(recorded_request: dict) -> bytes | None:
    if name := recorded_request.get("body_is"):
        return BLOBS[name].data
    text = recorded_request.get("body_latin1")
    return None if text is None else text.encode("latin-1")


def faults(method: str, recorded: dict, answer: Answer, label: str) -> list[str]:
    """Where the answer is not as recorded. Not compared: the wording of errors, Content-Type, and
    whether a body came chunked."""
    found = []

    def expect(what: str, wanted: object, got: object) -> None:
        if wanted != got:
            found.append(f"{what}: recorded {wanted!r}, ours {got!r}")

    headers = recorded["headers"]
    expect("status", recorded["status"], answer.status)
    if recorded["status"] == 200 and method != "HEAD":
        if "body_sha256" in recorded:
            expect("body's SHA-256", recorded["body_sha256"],
                   hashlib.sha256(answer.body).hexdigest())
        else:
            expect("body", recorded["body"].encode("latin-1"), answer.body)
    if recorded["status"] == 200 and method == "HEAD" or headers.get("Content-Length") == "0":
        expect("Content-Length", headers["Content-Length"], answer.header("Content-Length"))
    if "Location" in headers:
        location = answer.header("Location") or ""
        expect("Location is a bare id", True, bool(OUR_UPLOAD_ID.fullmatch(location)))
    else:
        expect("Location", None, answer.header("Location"))
    expected = headers.get("Origin-Locations")
    expect("Origin-Locations", label if expected == THE_RECORDED_LABEL else expected,
           answer.header("Origin-Locations"))
    return found


def faults_of_difference(difference: Difference, recorded: dict, answer: Answer) -> list[str]:
    found = []
    if recorded["status"] != difference.recorded:
        found.append(f"the table says recorded {difference.recorded}, not {recorded['status']}")
    if answer.status == recorded["status"]:
        found.append(f"no longer differs: answered {answer.status} as recorded")
    elif answer.status != difference.ours:
        found.append(f"the table says {difference.ours}, ours {answer.status} {answer.body!r}")
    if difference.header and answer.header(difference.header) is None:
        found.append(f"no header {difference.header}")
    if difference.body and not re.search(difference.body, answer.body.decode("latin-1")):
        found.append(f"body {answer.body!r} does not match {difference.body}")
    return found


def replay(client: KrakenClient, label: str) -> dict[tuple[str, int, str], list[str]]:
    """All scenarios in order: a later one builds on what an earlier one stored."""
    found: dict[tuple[str, int, str], list[str]] = {}
    uid = "no-upload-yet"
    for recording in SCENARIOS:
        for number, step in enumerate(recording["steps"], start=1):
            wanted = step["request"]
            path = wanted["path"].replace("{uid}", uid)
            for name, blob in BLOBS.items():
                path = path.replace("{%s}" % name, blob.digest)
            answer = client.request(wanted["method"], path, body_of(wanted), wanted.get("headers"))
            key = key_of(recording["scenario"], number, wanted)
            difference = DIFFERENCES.get(key)
            found[key] = (faults_of_difference(difference, step["response"], answer) if difference
                          else faults(wanted["method"], step["response"], answer, label))
            if step["response"]["headers"].get("Location") == "{uid}":
                uid = answer.header("Location") or "no-location"
    return found


@pytest.fixture(scope="module")
def replayed():
    peer = ["--peer-ip", "127.0.0.1", "--peer-port", "15003", "--zone", "z", "--cluster", "test"]
    with Daemon(arguments=peer) as daemon, KrakenClient(daemon) as client:
        yield replay(client, daemon.label)


@pytest.mark.parametrize("scenario", [recording["scenario"] for recording in SCENARIOS])
def test_answers_are_as_recorded_or_differ_as_the_table_says(replayed, scenario):
    bad = {key[1:]: found for key, found in replayed.items() if key[0] == scenario and found}
    assert not bad, "\n".join(f"step {number}, {request}: {'; '.join(found)}"
                              for (number, request), found in bad.items())


def test_every_entry_of_the_table_names_a_recorded_step(replayed):
    assert set(DIFFERENCES) - set(replayed) == set()


def test_only_the_two_scenarios_that_need_others_are_left_out():
    left_out = {recording["scenario"] for recording in RECORDINGS} & set(NOT_REPLAYED)
    assert left_out == set(NOT_REPLAYED)
    assert len(SCENARIOS) == len(RECORDINGS) - len(NOT_REPLAYED)
