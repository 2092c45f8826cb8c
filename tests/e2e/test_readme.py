"""The README's sessions work as printed.

A session is a fenced block in one of two forms: a transcript, in which `$ ` begins a command and
all other lines are what it prints (`…` stands for anything), or a block ```sh session, whose lines
are shell and in which `# -> text` says what the commands just before it print.
"""

import os
import re
import subprocess
from dataclasses import dataclass, field

import pytest

from daemon import REPOSITORY

FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
BASE_URL = re.compile(r"\b(?:http://)?(?:127\.0\.0\.1|localhost):15002\b")
PROMPT, EXPECTED = "$ ", "# ->"


@dataclass
class Commands:
    """A few lines of shell, and the texts that must occur in their output."""
    lines: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def missing_in(self, output: str) -> list[str]:
        return [text for text in self.expected
                if not re.search(".*".join(map(re.escape, text.split("…"))), output)]


def commands_of(block: str) -> list[Commands]:
    lines = block.splitlines()
    is_transcript = any(line.startswith(PROMPT) for line in lines)
    groups, goes_on = [Commands()], False
    for line in lines:
        if line.startswith(EXPECTED):
            text, is_command = line.removeprefix(EXPECTED).strip(), False
        else:
            text = line.removeprefix(PROMPT) if is_transcript else line
            is_command = not is_transcript or line.startswith(PROMPT) or goes_on
        goes_on = is_command and text.endswith("\\")
        if not is_command:
            groups[-1].expected += [text] if text else []
        elif groups[-1].expected:
            groups.append(Commands([text]))
        else:
            groups[-1].lines.append(text)
    return groups


def sessions() -> list[Commands]:
    """Of all blocks, in order: they are typed into one shell."""
    readme = (REPOSITORY / "README.md").read_text()
    return [commands for info, block in FENCED.findall(readme)
            if info == "sh session" or re.search(r"^\$ ", block, re.M)
            for commands in commands_of(block)]


@pytest.mark.limit(120)
def test_the_readme_s_sessions_work_as_printed(request, tmp_path):
    """With ORLOP_README_ORIGIN=host:port against the origin that runs there (`./dev docker`)."""
    label = os.environ.get("ORLOP_README_ORIGIN") or request.getfixturevalue("daemon").label
    groups = sessions()
    mark = "--- the next commands of the session"
    script = f"\necho '{mark}'\n".join("\n".join(group.lines) for group in groups)
    script, replaced = BASE_URL.subn(
        lambda url: f"http://{label}" if url.group().startswith("http") else label, script)
    assert replaced, "the sessions call no daemon at 127.0.0.1:15002"
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=tmp_path,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=100, text=True)
    print(script, done.stdout, sep="\n--- said:\n")
    assert done.returncode == 0
    outputs = done.stdout.split(f"{mark}\n")
    assert len(outputs) == len(groups)
    missing = [group.missing_in(output) for group, output in zip(groups, outputs)]
    assert missing == [[]] * len(groups)


def test_the_sessions_use_curl_and_say_what_it_prints():
    groups = sessions()
    assert sum(len(group.expected) for group in groups) >= 2
    assert any("curl" in line for group in groups for line in group.lines)


def test_both_forms_of_a_session_are_understood():
    transcript = commands_of("$ a \\\n  -b\n$ c\nout 1\nout …\n\n$ d\n")
    assert transcript == [Commands(["a \\", "  -b", "c"], ["out 1", "out …"]), Commands(["d"])]
    shell = commands_of("a\nb\n# -> out\nc\n")
    assert shell == [Commands(["a", "b"], ["out"]), Commands(["c"])]
    assert transcript[0].missing_in("x out 1\nout 77") == []
    assert transcript[0].missing_in("out 2") == ["out 1"]
