"""Reference documents compared with the program: settings, metrics, help of commands, names of tests."""

import json
import re
import subprocess

import pytest
from e2e_support import ROOT, eventually, get

SETTINGS = ROOT / "config/README.md"
METRICS = ROOT / "dashboards/README.md"


def plain(cell):
    """A cell of a table in the form of the program: a sentence without markup and links."""
    text = re.sub(r" \(\[[^\]]*\]\([^)]*\)\)", "", cell).replace("`", "").strip().rstrip(".")
    return text[:1].upper() + text[1:] + "."


def rows_of(path, first):
    """Cells of the rows of all tables whose first cell is code that matches, and the text before their table."""
    before = ""
    for line in path.read_text().splitlines():
        if not line.startswith("|"):
            before = line or before
        elif re.match(rf"\| `{first}` \|", line):
            yield before, [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def test_the_table_of_settings_equals_the_programs(breakwatch):
    known = {entry["key"]: entry for entry in json.loads(breakwatch.run("config", "explain", "--json").stdout)}
    listed = {}
    for before, (key, default, meaning, *reload) in rows_of(SETTINGS, r"[a-z_.]+"):
        listed[key.strip("`")] = default, meaning, reload[0] if reload else before
    assert set(listed) == {key for key, entry in known.items() if not entry["secret"]}
    secrets = SETTINGS.read_text().split("## Secrets")[1].split("##")[0]
    for key, entry in known.items():
        if entry["secret"]:
            assert entry["environment"] in secrets, key
            continue
        default, meaning, reload = listed[key]
        shown = entry["default"] if isinstance(entry["default"], str) else json.dumps(entry["default"])
        assert default == ("empty" if shown == "" else f"`{shown}`"), key
        assert plain(meaning) == entry["doc"], key
        assert ("restart" in reload) == entry["restart"], key


def families(text):
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    return {name: (types[name], help) for name, help in re.findall(r"^# HELP (\S+) (.*)$", text, re.MULTILINE)}


def test_the_tables_of_metrics_equal_the_programs(breakwatch, hub, gateway):
    hub.model("org/broken", 2, sites=[["branching", "GB0170", 4]], fixes={"use_cache": 0})
    hub.model("org/clean", 1)
    # Nothing listens on port 1: a sweep fails, an event waits, an export fails.
    no_hub = ("--hub.source", "live", "--hub.endpoint", "http://127.0.0.1:1", "--hub.retries", "0")
    breakwatch.run("sweep", "--quiet", *no_hub, code=69)
    breakwatch.run("sweep", "--quiet", "--modes", "eval,train")
    breakwatch.run("profile", "org/broken", "--quiet")
    breakwatch.run("fix", "org/broken", "--quiet")
    breakwatch.run("artifact", "build", "org/clean", "--until", "fetch")
    down = ("--exporters.loki.url", "http://127.0.0.1:1", "--exporters.loki.required=false",
            "--exporters.loki.start", "beginning")  # fmt: skip
    _, address = breakwatch.serve("--metrics.extra", "default/train", "--exporters.pushgateway.url", gateway.url, *down,
                                  "--sweep.interval", "24h")  # fmt: skip
    assert eventually(lambda: "breakwatch_breaks" in get(address + "/metrics/models")[1])
    assert eventually(lambda: "breakwatch_sweep_next_due" in get(address + "/metrics/models")[1])
    assert eventually(lambda: "breakwatch_export_last_success_timestamp_seconds{" in get(address + "/metrics")[1])
    assert eventually(lambda: "breakwatch_export_last_failure_timestamp_seconds{" in get(address + "/metrics")[1])
    served = families(get(address + "/metrics/models")[1])
    own = families(get(address + "/metrics")[1])
    assert not served.keys() & own.keys()
    rows = (cells for _, cells in rows_of(METRICS, r"(?:compile|breakwatch|process)_\w+"))
    listed = {cells[0].strip("`"): (cells[1], plain(cells[-1])) for cells in rows if cells[1] in ("gauge", "counter")}
    assert set(listed) == set(served) | set(own)
    for name, family in (own | served).items():
        assert listed[name] == family, name


def leaves(breakwatch):
    """The words of every command that runs."""
    for name in re.findall(r"^  ([a-z][\w-]*)", subcommands(breakwatch.run("--help").stdout), re.MULTILINE):
        nested = re.findall(r"^  ([a-z][\w-]*)", subcommands(breakwatch.run(name, "--help").stdout), re.MULTILINE)
        yield from ([name, word] for word in nested)
        if not nested:
            yield [name]


def subcommands(text):
    found = re.search(r"^(?:SUBCOMMANDS|Subcommands):\n((?:  .*\n)+)", text, re.MULTILINE)
    return found.group(1) if found else ""


def test_each_command_has_its_own_settings_examples_and_exit_codes(breakwatch):
    keys = {entry["key"] for entry in json.loads(breakwatch.run("config", "explain", "--json").stdout)}
    commands = list(leaves(breakwatch))
    assert len(commands) > 20
    for words in commands:
        text = breakwatch.run(*words, "--help").stdout
        examples = re.search(r"^Examples:\n((?:  .*\n)+)", text, re.MULTILINE)
        assert examples and "breakwatch " + " ".join(words) in examples.group(1), words
        codes = re.search(r"^Exit codes: ((?:.*\n)*?.*)\.$", text, re.MULTILINE)
        assert codes and codes.group(1).startswith("0 success, "), words
        settings = re.search(r"^Settings:\n((?:  .*\n)+)", text, re.MULTILINE)
        for key, meaning in re.findall(r"^  (\S+) +(.*)$", settings.group(1) if settings else "", re.MULTILINE):
            assert key in keys and meaning, (words, key)
        assert len(re.findall(r"^Examples:", text, re.MULTILINE)) == 1, words
        assert max(map(len, text.splitlines())) <= 160, words
    assert "2 regressions" in breakwatch.run("compare", "--help").stdout
    assert "2 regressions" not in breakwatch.run("show", "--help").stdout


def test_no_file_has_the_marks_of_a_merge():
    found = subprocess.run(["git", "grep", "-nE", "^(<{7}|>{7})( |$)"], cwd=ROOT, capture_output=True, text=True)
    if found.returncode > 1:
        pytest.skip(f"the files are not those of a git repository: {found.stderr.strip()}")
    assert found.stdout == ""


def test_every_test_that_the_security_document_names_exists():
    files = [*(ROOT / "tests/e2e").glob("*.py"), *(ROOT / "tests/worker").glob("*.py")]
    python = "\n".join(path.read_text() for path in files)
    cases = "\n".join(path.read_text() for path in (ROOT / "tests").glob("*/*_test.cc"))
    text = (ROOT / "SECURITY.md").read_text()
    names = re.findall(r"`(?:[\w/]+\.py::)?(test_\w+?)(?:\.\.\.|_\.\.\.)?`", text)
    assert len(names) > 30
    for name in names:
        assert re.search(rf"def {name}", python), name
    for name in re.findall(r"_test\.cc`, `(\w+)`", text):
        assert re.search(rf", {name}\)", cases), name
    for name in re.findall(r"`((?:tests/)?\w+/?\w+\.(?:py|cc))(?:::\w+)?`", text):
        if "/" in name:
            assert (ROOT / name).exists(), name


@pytest.mark.parametrize("name", ["README.md", "daemon/commands/README.md"])
def test_commands_in_the_guides_exist(breakwatch, name):
    first = {words[0] for words in leaves(breakwatch)}
    blocks = "\n".join((ROOT / name).read_text().split("```")[1::2])
    for word in re.findall(r"^(?:\$ )?breakwatch ([a-z][\w-]+)", blocks, re.MULTILINE):
        assert word in first, word
