"""The Dockerfiles: pinned base images, their own users, and everything that the program needs at run time."""

import re
import shutil
import subprocess

import pytest


def read(path):
    """[(instruction, argument)], continuation lines joined, comments inside them dropped."""
    text = re.sub(r"^ *#.*\n", "", path.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


@pytest.fixture(params=["docker/Dockerfile", "docker/jenkins/Dockerfile"])
def instructions(root, request):
    return read(root / request.param)


@pytest.fixture
def main_instructions(root):
    return read(root / "docker/Dockerfile")


def arguments(instructions, name):
    return [argument for instruction, argument in instructions if instruction == name]


def last_stage(instructions):
    start = max(i for i, (name, _) in enumerate(instructions) if name == "FROM")
    return instructions[start:]


def test_starts_from_pinned_images(instructions):
    bases = dict(argument.split("=", 1) for argument in arguments(instructions, "ARG"))
    assert re.fullmatch(r"debian:\d+\.\d+-slim(@sha256:[0-9a-f]{64})?", bases["DEBIAN"])
    stages = set()
    for argument in arguments(instructions, "FROM"):
        base, *name = argument.split(" AS ")
        image = bases.get(base.strip("${}"), "")
        assert base in stages or re.fullmatch(r"[a-z/]+:\d+\.\d+[a-z0-9.-]*(@sha256:[0-9a-f]{64})?", image), base
        stages.update(name)
    assert len(arguments(instructions, "FROM")) > 1


def test_leaves_build_tools_behind(main_instructions):
    final = " ".join(argument for name, argument in last_stage(main_instructions) if name == "RUN")
    assert "-dev" not in final and "g++" not in final and "cmake" not in final and "python3-venv" not in final


def test_runs_as_a_user_of_its_own(instructions):
    users = arguments(last_stage(instructions), "USER")
    assert users and users[-1].split(":")[0] not in ("root", "0")


def test_has_a_health_check(instructions):
    assert arguments(last_stage(instructions), "HEALTHCHECK")


def test_copies_only_what_is_in_the_tree(root, instructions):
    for argument in arguments(instructions, "COPY"):
        words = argument.split()
        if words[0].startswith("--from="):
            continue
        for source in words[:-1]:
            assert (root / source).exists(), source


def test_keeps_the_build_context_small(root):
    ignored = (root / ".dockerignore").read_text().split()
    for name in (".git", ".venv*", "build", "var"):
        assert name in ignored


def test_installs_no_more_than_it_names_and_cleans_up(instructions):
    for argument in arguments(instructions, "RUN"):
        if "apt-get install" in argument:
            assert "--no-install-recommends" in argument and "rm -rf /var/lib/apt/lists/*" in argument
        assert not re.search(r"\b(curl|wget)\b", argument), argument


def test_names_only_settings_that_exist(instructions, setting_variables):
    for argument in arguments(instructions, "ENV"):
        for variable in re.findall(r"(BREAKWATCH_\w+)=", argument):
            assert variable in setting_variables, variable


def test_installs_every_library_the_program_needs(root, main_instructions):
    program = root / "build/release/breakwatch"
    if not program.exists() or not shutil.which("dpkg") or not shutil.which("objdump"):
        pytest.skip("no program built here, or no dpkg and objdump to ask")
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    dynamic = subprocess.run(["objdump", "-p", program], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"\bNEEDED\s+(\S+)", dynamic)
    installed = " ".join(arguments(last_stage(main_instructions), "RUN")).split()
    for name in needed:
        path = re.search(rf"{re.escape(name)} => (\S+)", linked)
        if not path:
            continue
        for candidate in (path[1], path[1].replace("/lib/", "/usr/lib/", 1), "/usr" + path[1]):
            owner = subprocess.run(["dpkg", "-S", candidate], capture_output=True, text=True, check=False).stdout
            if owner:
                break
        package = owner.split(":")[0]
        assert package in installed or package in ("libc6", "libgcc-s1", "libstdc++6"), f"{name} of {package}"
