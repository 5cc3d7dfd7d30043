"""The folders that captures write to. They are emptied after each capture; without another limit their size is
measured."""

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
import time

_FOLDERS = "BREAKWATCH_SCRATCH"  # a colon-separated list of private folders on file systems of limited size
_BYTES = "BREAKWATCH_SCRATCH_BYTES"
_DEFAULT_BYTES = 1 << 30
_PAUSE_S = 1.0  # between two measurements
_MOST_FILES = 50_000
_PREFIX = "breakwatch-worker-"
_NEW_S = 60.0  # a folder this young may not be locked yet


def use_for_temporary_files(folder: str) -> None:
    """For this process and those that it starts."""
    os.environ["TMPDIR"] = tempfile.tempdir = folder  # tempfile caches that of the parent


@contextlib.contextmanager
def own_folder(prefix: str):
    """A folder below that of this process, for the temporary files of a fork. This process removes it, so that it does
    not matter how the fork ends."""
    folder = tempfile.mkdtemp(prefix=prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Scratch:
    """Owner: the zygote's loop. `folder` belongs to this zygote and holds the files of its captures. With `kept`, it is
    this folder, which is not emptied and not removed."""

    def __init__(self, kept: str = ""):
        if not kept:
            _remove_abandoned(tempfile.gettempdir())
        self.folder = kept or tempfile.mkdtemp(prefix=_PREFIX)
        self._lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        # Ends with this process and its forks. Raises BlockingIOError if another process uses a kept folder.
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.limit = int(os.environ.get(_BYTES) or _DEFAULT_BYTES)
        folders = "" if kept else os.environ.get(_FOLDERS, "")
        self._private = [name for name in folders.split(":") if os.path.isabs(name)]
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
        os.close(self._lock)

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


def _remove_abandoned(parent: str) -> None:
    """Removes the folders of zygotes that were killed before they could do it."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(parent):
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_if_abandoned(entry)


def _remove_if_abandoned(entry: os.DirEntry) -> None:
    found = entry.stat(follow_symlinks=False)
    if found.st_uid != os.getuid() or time.time() - found.st_mtime < _NEW_S:
        return
    lock = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # BlockingIOError: its zygote lives
        _open_up(entry.path)
        shutil.rmtree(entry.path, ignore_errors=True)
    finally:
        os.close(lock)


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
