"""The folders that captures write to. They are emptied after each capture; without another limit their size is
measured."""

import contextlib
import os
import re
import shutil
import tempfile

_FOLDERS = "BREAKWATCH_SCRATCH"  # a colon-separated list of private folders on file systems of limited size
_BYTES = "BREAKWATCH_SCRATCH_BYTES"
_DEFAULT_BYTES = 1 << 30
_PAUSE_S = 1.0  # between two measurements
_MOST_FILES = 50_000


class Scratch:
    """Owner: the zygote's loop. `folder` belongs to this zygote and holds the files of its captures."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="breakwatch-zygote-")
        self.limit = int(os.environ.get(_BYTES) or _DEFAULT_BYTES)
        self._private = [name for name in os.environ.get(_FOLDERS, "").split(":") if os.path.isabs(name)]
        self._next_count = 0.0

    def over(self, now: float) -> bool:
        """Whether the files exceed the limit. Measures once a second; private file systems limit themselves."""
        if self._private or now < self._next_count:
            return False
        self._next_count = now + _PAUSE_S
        return self._bytes() > self.limit

    def empty(self) -> bool:
        """Removes the files of a capture. Returns whether all are gone."""
        left = _remove_all(self.folder, set())
        # The folder of a build may be shown below a private one; its files belong to the daemon.
        for folder in self._private:
            left = _remove_all(folder, {self.folder, *_mounts_below(folder)}) or left
        return not left

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _bytes(self) -> int:
        total = files = 0
        for folder, _, names in os.walk(self.folder):
            for name in names:
                with contextlib.suppress(OSError):
                    total += os.lstat(os.path.join(folder, name)).st_blocks * 512
            files += len(names)
            if files > _MOST_FILES:
                return max(total, self.limit + 1)
        return total


def _mounts_below(folder: str) -> set:
    with (
        contextlib.suppress(OSError),
        open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as lines,
    ):
        points = (re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), line.split()[4]) for line in lines)
        return {point for point in points if point.startswith(folder.rstrip("/") + "/")}
    return set()


def _remove_all(folder: str, but: set) -> bool:
    """Empties a folder, except for the paths in `but`. Returns whether something else is left."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return True
    left = False
    for entry in entries:
        if entry.path in but:
            continue
        if any(path.startswith(entry.path + "/") for path in but):
            left = _remove_all(entry.path, but) or left
            continue
        if entry.is_dir(follow_symlinks=False):
            _open_up(entry.path)
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                os.unlink(entry.path)
        left = left or os.path.lexists(entry.path)
    return left


def _open_up(folder: str) -> None:
    """Restores access to folders, which a capture may have removed."""
    with contextlib.suppress(OSError):
        os.chmod(folder, 0o700)
    for inner, names, _ in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                path = os.path.join(inner, name)
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
