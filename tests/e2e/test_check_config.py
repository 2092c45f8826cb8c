"""`orlop check-config`: what would hold, who said it, and whether disk and address would do."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from alive import still_alive
from daemon import BINARY, free_port

LEAST = """peer_id_factory: addr_hash
metainfogen: {piece_lengths: {0: 4MB}}
tls: {server: {disabled: true}}
"""
REPOSITORY = Path(__file__).resolve().parents[2]


def check(*arguments: object, variables: dict[str, str] | None = None,
          cwd: Path | None = None) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("ORLOP_")}
    return subprocess.run([str(BINARY), "check-config", *map(str, arguments)], text=True,
                          capture_output=True, timeout=30, env=environment | (variables or {}),
                          cwd=cwd)


def settings_of(output: str) -> dict[str, tuple[str, str]]:
    """name -> (value, source)"""
    lines = re.findall(r"^(\S+) = (.*) \((.+)\)$", output, re.M)
    return {name: (value, source) for name, value, source in lines}


def said(output: str, kind: str) -> list[str]:
    return [line.removeprefix(f"{kind}: ") for line in output.splitlines()
            if line.startswith(f"{kind}: ")]


def test_a_good_configuration_is_shown_tried_and_leaves_nothing_behind(tmp_path):
    config = tmp_path / "origin.yaml"
    config.write_text(LEAST + f"castore: {{upload_dir: {tmp_path}/u, cache_dir: {tmp_path}/c}}\n"
                      "verbose: true\nserver:\n  lame_duck: 90s\n")
    result = check("--config", config, "--blobserver-port", free_port(),
                   "--set", "store.uploads_max=7", "--set", "store.free_bytes_min=0B",
                   "--set", "server.connections_max=10",
                   variables={"ORLOP_ZONE": "z1"})
    assert (result.returncode, result.stderr) == (0, "")

    settings = settings_of(result.stdout)
    assert settings["castore.upload_dir"] == (f"{tmp_path}/u", f"{config}:4")
    assert settings["server.lame_duck"] == ("1m30s", f"{config}:7")
    assert settings["store.uploads_max"] == ("7", "-set")
    assert settings["-zone"] == ("z1", "ORLOP_ZONE")
    assert settings["store.durability"] == ("group", "default")
    assert settings["store.database_dir"] == (f"{tmp_path}/orlop", "default")
    assert settings["-listen"] == ("0.0.0.0", "default")
    assert settings["-blobserver-hostname"][1] == settings["-peer-ip"][1] == "this machine"
    assert len(said(result.stdout, "notice")) == 1
    assert len(said(result.stdout, "ok")) == 7
    assert said(result.stdout, "warning") == said(result.stdout, "failure") == []
    assert [entry.name for entry in tmp_path.iterdir()] == ["origin.yaml"]


def test_without_flags_the_defaults_are_shown(tmp_path):
    result = check("--set", "store.free_bytes_min=0B", cwd=tmp_path)
    settings = settings_of(result.stdout)
    assert settings["-listen"] == ("127.0.0.1", "default")
    assert settings["castore.cache_dir"] == ("orlop-data/cache", "default")
    assert settings["server.reads_max"] == ("4096", "default")
    assert list(tmp_path.iterdir()) == []


def test_krakens_own_configuration_is_read(tmp_path):
    """Every section and most keys of Kraken's origin (tests/config/kraken_origin.yaml)."""
    text = (REPOSITORY / "tests/config/kraken_origin.yaml").read_text()
    config = tmp_path / "kraken.yaml"
    config.write_text(text.replace("/var/cache/kraken", str(tmp_path)))
    result = check("-config", config, "-blobserver-hostname", "origin1", "-blobserver-port", 15002,
                   "-peer-ip", "127.0.0.1", "-peer-port", 8081, "--set", "store.free_bytes_min=0B")
    assert result.returncode == 0, result.stderr
    assert settings_of(result.stdout)["metainfogen.piece_lengths"][0] == "{0: 4MB, 2GB: 8MB}"
    assert len(said(result.stdout, "notice")) > 5
    assert [entry.name for entry in tmp_path.iterdir()] == ["kraken.yaml"]


@pytest.mark.parametrize("line, message", [
    ("castore: {cach_dir: /x}", "castore.cach_dir: unknown key; did you mean castore.cache_dir?"),
    ("server: {lame_duck: 1d}", "server.lame_duck: expected a duration"),
    ("server: {reads_max: 0}", "server.reads_max: expected 1 to"),
    ("backends: [{namespace: .*, backend: {s3: {}}}]", "backends"),
    ("a: [", ""),
])
def test_a_mistake_is_named_with_its_place_and_nothing_is_tried(tmp_path, line, message):
    config = tmp_path / "origin.yaml"
    config.write_text(LEAST + line + "\n")
    result = check("--config", config, "--data", tmp_path / "data")
    assert result.returncode == 2
    assert result.stdout == ""
    assert f"{config}:" in result.stderr
    assert message in result.stderr
    assert not (tmp_path / "data").exists()


def test_lenient_turns_unknown_keys_into_notices(tmp_path):
    config = tmp_path / "origin.yaml"
    config.write_text(LEAST + "nonsense: 1\n")
    arguments = ["--config", config, "--data", tmp_path / "data", "--blobserver-port", free_port(),
                 "--set", "store.free_bytes_min=0B"]
    assert check(*arguments).returncode == 2
    result = check(*arguments, "--lenient")
    assert result.returncode == 0, result.stderr
    assert any("nonsense" in notice for notice in said(result.stdout, "notice"))


def test_a_secret_is_used_and_never_shown(tmp_path):
    secrets = tmp_path / "secrets.yaml"
    hidden = tmp_path / "hidden-database"
    secrets.write_text(f"store: {{database_dir: {hidden}}}\nauth: {{s3: {{key: h1dden}}}}\n"
                       "admin: {allow: [192.0.2.77]}\n")
    result = check("--secrets", secrets, "--data", tmp_path / "data")
    settings = settings_of(result.stdout)
    assert settings["admin.allow"] == ("(not shown)", f"{secrets}:3")
    assert "h1dden" not in result.stdout + result.stderr
    assert "192.0.2.77" not in result.stdout + result.stderr


def test_a_disk_or_an_address_that_will_not_do_is_a_failure(tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    result = check("--data", in_the_way / "data", "--listen", "192.0.2.1")
    assert result.returncode == 2
    failures = said(result.stdout, "failure")
    assert [failure.split()[0] for failure in failures] == [
        "castore.upload_dir", "castore.cache_dir", "store.database_dir", "192.0.2.1:15002:"]
    full = check("--data", tmp_path / "data", "--set", "store.free_bytes_min=8000TB")
    assert full.returncode == 2
    assert "store.free_bytes_min" in said(full.stdout, "failure")[0]


def test_it_may_run_beside_the_daemon(daemon):
    with still_alive(daemon):
        before = sorted(daemon.data.rglob("*"))
        result = check("--data", daemon.data, "--blobserver-port", daemon.port,
                       "--set", "store.free_bytes_min=0B", "--set", "server.connections_max=9")
        assert result.returncode == 0, result.stderr
        assert said(result.stdout, "warning") == [f"0.0.0.0:{daemon.port}: somebody listens there"
                                                  " now"]
        added = set(daemon.data.rglob("*")) - set(before)
        assert not [path for path in added if path.parent != daemon.data / "db"]


def test_the_commands_are_listed_and_others_refused():
    listed = subprocess.run([str(BINARY), "help"], text=True, capture_output=True, timeout=10)
    assert listed.returncode == 0
    assert re.search(r"^  check-config ", listed.stdout, re.M)
    unknown = subprocess.run([str(BINARY), "chek-config"], text=True, capture_output=True,
                             timeout=10)
    assert unknown.returncode == 2
    assert "check-config" in unknown.stderr
