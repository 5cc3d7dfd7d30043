"""What is left when the scratch folders are emptied."""

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
