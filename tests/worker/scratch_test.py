"""What is left when the scratch folders are emptied."""

import pathlib

import worker_support  # noqa: F401  puts the worker on the path
from breakwatch_worker.process import scratch


def test_a_folder_that_is_mounted_below_a_scratch_folder_keeps_its_files(tmp_path, monkeypatch):
    kept = tmp_path / "state/artifacts/work"
    for file in (kept / "package", tmp_path / "state/left", tmp_path / "other/left", tmp_path / "left"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    monkeypatch.setenv("BREAKWATCH_SCRATCH", str(tmp_path))
    monkeypatch.setattr(scratch, "_mounts_below", lambda folder: {str(kept)})
    folders = scratch.Scratch()
    try:
        assert folders.empty()
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == [kept / "package"]
    finally:
        folders.remove()


def test_the_folder_of_a_killed_zygote_is_removed_by_the_next_one_which_spares_living_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch.tempfile, "tempdir", str(tmp_path))
    living = scratch.Scratch()
    abandoned = tmp_path / f"{scratch._PREFIX}abandoned"
    (abandoned / "capture").mkdir(parents=True, mode=0o500)
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setattr(scratch, "_NEW_S", 0.0)
    second = scratch.Scratch()
    try:
        assert set(tmp_path.iterdir()) == {pathlib.Path(living.folder), pathlib.Path(second.folder), other}
    finally:
        living.remove()
        second.remove()


def test_a_new_folder_without_a_lock_is_not_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch.tempfile, "tempdir", str(tmp_path))
    new = tmp_path / f"{scratch._PREFIX}new"
    new.mkdir()
    scratch.Scratch().remove()
    assert list(tmp_path.iterdir()) == [new]
