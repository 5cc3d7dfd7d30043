"""The man pages and completions that the program makes from its own tables, read by the programs that they are for."""

import json
import os
import pty
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from e2e_support import eventually, needs


@pytest.fixture(scope="module")
def docs(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    subprocess.run([program, "docs", "man", folder / "man"], check=True)
    for shell, name in (("bash", "breakwatch.bash"), ("zsh", "_breakwatch"), ("fish", "breakwatch.fish")):
        text = subprocess.run([program, "docs", "completion", shell], check=True, capture_output=True).stdout
        (folder / name).write_bytes(text)
    return folder


@pytest.fixture(scope="module")
def commands(program):
    """Every command that --help lists, with those below: "store check"."""

    def below(*path):
        done = subprocess.run([program, *path, "--help"], capture_output=True, text=True, check=True)
        listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", done.stdout, re.M)
        names = re.findall(r"^  (\S+)", listed[1], re.M) if listed else []
        return [" ".join([*path, name]) for name in names]

    found = below()
    return found + [nested for name in found for nested in below(name)]


def test_every_command_and_setting_has_a_page(program, docs, commands):
    pages = {path.name for path in (docs / "man").iterdir()}
    expected = {f"breakwatch-{name.replace(' ', '-')}.1" for name in commands}
    assert pages == expected | {"breakwatch.1", "breakwatch.yaml.5"}
    settings = json.loads(subprocess.run([program, "config", "explain", "--json"], capture_output=True).stdout)
    text = (docs / "man/breakwatch.yaml.5").read_text()
    for setting in settings:
        assert f"\\fB{setting['key']}\\fR".replace("-", "\\-") in text


def test_mandoc_finds_nothing_wrong(docs):
    pages = sorted((docs / "man").iterdir())
    done = subprocess.run([needs("mandoc"), "-T", "lint", "-W", "warning", *pages], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_man_formats_the_pages_without_a_warning(docs):
    man = needs("man")
    for page in sorted((docs / "man").iterdir()):
        done = subprocess.run([man, "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], capture_output=True,
                              env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b""), page.name


def test_a_page_has_what_the_help_has(program, docs):
    done = subprocess.run([needs("man"), "-l", docs / "man/breakwatch-sweep.1"], capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"], "MANPAGER": "cat", "MANWIDTH": "200",
                               "LC_ALL": "C.UTF-8"})  # fmt: skip
    page = re.sub(r".\x08", "", done.stdout)
    help_text = subprocess.run([program, "sweep", "--help"], capture_output=True, text=True).stdout
    for option in re.findall(r"^  (--[a-z-]+)", help_text, re.M):
        assert option in page
    for word in ("breakwatch sweep --hub.source snapshot", "capture.modes", "EXIT STATUS", "ORG/NAME", "130"):
        assert word in page, word


def test_pages_are_the_same_each_time(program, tmp_path):
    for name in ("a", "b"):
        subprocess.run([program, "docs", "man", tmp_path / name], check=True,
                       env=os.environ | {"SOURCE_DATE_EPOCH": "86400"})  # fmt: skip
    texts = [{path.name: path.read_text() for path in (tmp_path / name).iterdir()} for name in ("a", "b")]
    assert texts[0] == texts[1]
    assert '"1970-01-02"' in texts[0]["breakwatch.1"]


def of_bash(docs, line):
    # As readline splits a line: also at "=".
    words = re.sub(r"=", " = ", line).split(" ") if "=" in line else line.split(" ")
    script = (f"source {docs}/breakwatch.bash; COMP_WORDS=({' '.join(shlex.quote(w) for w in words)}); "
              f"COMP_CWORD={len(words) - 1}; _breakwatch; printf '%s\\n' \"${{COMPREPLY[@]}}\"")  # fmt: skip
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, cwd=docs)
    assert done.stderr == ""
    return set(done.stdout.split())


def of_fish(docs, line):
    script = f"source {docs}/breakwatch.fish; complete -C {shlex.quote(line)}"
    done = subprocess.run([needs("fish"), "--no-config", "-c", script], capture_output=True, text=True, cwd=docs,
                          env={"PATH": os.environ["PATH"], "HOME": str(docs), "TERM": "dumb"})  # fmt: skip
    assert done.stderr == ""
    return {offer.split("\t")[0] for offer in done.stdout.splitlines()}


ZSH = """
PROMPT=''
fpath=({docs} $fpath)
autoload -U compinit
compinit -u -D
bindkey '^I' complete-word
compadd() {{
  # The forms that only ask are passed on.
  if [[ " $*" != *" -"[[:alpha:]]#[OAD]* ]]; then
    local -a hits
    builtin compadd -O hits "$@"
    print -lr -- $hits >>{out}
  fi
  builtin compadd "$@"
}}
setopt extended_glob
ended() {{ print -r -- '<end>' >>{out} }}
comppostfuncs=(ended)
print -r -- '<ready>' >>{out}
"""


def of_zsh(docs, line):
    zsh, out, setup = needs("zsh"), docs / "zsh.out", docs / "setup.zsh"
    out.write_text("")
    setup.write_text(ZSH.format(docs=docs, out=out))
    main, terminal = pty.openpty()
    child = subprocess.Popen([zsh, "-f", "-i"], stdin=terminal, stdout=terminal, stderr=terminal, cwd=docs,
                             start_new_session=True, env={"PATH": os.environ["PATH"], "TERM": "vt100",
                                                          "HOME": str(docs)})  # fmt: skip
    os.close(terminal)
    try:
        os.write(main, f"source {setup}\n".encode())
        assert eventually(lambda: "<ready>" in out.read_text())
        os.write(main, line.encode() + b"\t")
        assert eventually(lambda: "<end>" in out.read_text()), out.read_text()
    finally:
        child.kill()
        child.wait()
        os.close(main)
    return set(out.read_text().split()) - {"<ready>", "<end>"}


@pytest.mark.parametrize("offers", [of_bash, of_fish, of_zsh])
def test_the_shell_offers_commands_options_settings_and_values(docs, offers):
    assert {"sweep", "store", "setup"} <= offers(docs, "breakwatch ")
    assert "docs" not in offers(docs, "breakwatch ")
    assert {"info", "check", "export"} <= offers(docs, "breakwatch store ")
    assert "sweep" not in offers(docs, "breakwatch store ")
    options = offers(docs, "breakwatch sweep --mod")
    assert {"--model", "--modes"} <= {option.rstrip("=") for option in options}
    settings = {option.rstrip("=") for option in offers(docs, "breakwatch sweep --hub.s")}
    assert {"--hub.source", "--hub.sort", "--hub.search"} <= settings
    assert {"if-needed", "always", "never"} <= offers(docs, "breakwatch sweep --rebuild ")
    assert {"live", "snapshot", "file", "directory"} <= offers(docs, "breakwatch sweep --hub.source ")
    assert {"junit", "sarif", "md"} <= offers(docs, "breakwatch report --format ")
    assert {"hub.top", "hub.task"} <= offers(docs, "breakwatch config explain hub.t")
    assert "breakwatch.fish" in offers(docs, "breakwatch import breakwatch.f")


def test_bash_completes_behind_an_equals_sign_and_a_comma(docs):
    assert of_bash(docs, "breakwatch sweep --hub.source=sn") == {"snapshot"}
    assert of_bash(docs, "breakwatch sweep --modes eval,tr") == {"eval,train"}
    assert of_bash(docs, "breakwatch --json sto") == {"store"}
    # A value that is the name of a command.
    assert "info" not in of_bash(docs, "breakwatch sweep --toolchain store ")


def test_every_format_that_is_offered_is_accepted(swept, docs):
    text = (docs / "breakwatch.fish").read_text()
    formats = re.search(r"__fish_seen_subcommand_from report' -l format -x -a '([^']+)'", text)[1].split()
    assert len(formats) > 5
    for name in formats:
        swept.run("report", "--format", name, "--output", "out")
    swept.run("report", "--format", "nonsense", code=64)


def test_no_page_or_completion_has_a_path_of_this_machine(docs):
    for path in Path(docs).rglob("*"):
        if path.is_file() and path.suffix not in (".zsh", ".out"):
            assert str(Path(__file__).resolve().parents[2]) not in path.read_text(), path
