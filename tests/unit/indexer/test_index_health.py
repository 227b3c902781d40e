"""Damaged, foreign and old indexes are refused or rebuilt, never misread."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.types import IndexingStatus, SchemaStatus
from sightline_indexer.schema import SCHEMA_VERSION
from support.index_kit import opened, paths_with_word, picture, run, write_tree

TREE = {f"d{n % 3}/f{n}.py": f"def symbol{n}():\n    return word{n} + shared\n" for n in range(40)}
DAMAGES = int(os.environ.get("DAMAGES", "60"))


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    root = tmp_path_factory.mktemp("tree")
    write_tree(root, TREE)
    folder = tmp_path_factory.mktemp("index")
    with opened(root, folder) as index:
        run(index)
        write_tree(root, {"d0/f0.py": "def symbol0():\n    return word0 + changed\n"})
        run(index)
        with index.snapshot() as snapshot:
            expected = picture(snapshot)
    return root, folder, expected


@pytest.fixture
def copy(original, tmp_path: Path):
    root, folder, expected = original
    shutil.copytree(folder, tmp_path / "index")
    return root, tmp_path / "index", expected


def index_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("index-*/**/*") if path.is_file() and ".lock" not in path.name)


def check_refused_or_right(root: Path, folder: Path, expected: dict[str, object]) -> bool:
    """True when the index was refused; otherwise what it says must be right."""
    with opened(root, folder) as index:
        state = index.status()
        try:
            with index.snapshot() as snapshot:
                assert picture(snapshot) == expected
                assert len(paths_with_word(snapshot, "shared")) == len(TREE) - 1
                for number in range(len(TREE)):
                    path = f"d{number % 3}/f{number}.py"
                    assert paths_with_word(snapshot, f"word{number}") == {path}
                    assert {item.path for item in snapshot.symbols_named(f"symbol{number}")} == {path}
        except SightlineError as error:
            assert error.code is ErrorCode.INDEX_INCOMPATIBLE
            assert "force=true" in error.full_message
            assert state.schema_status in (SchemaStatus.CORRUPT_MANIFEST, SchemaStatus.REINDEX_REQUIRED)
            assert state.indexing_status is IndexingStatus.FAILED
            return True
    return False


def test_a_sound_index_is_accepted(copy) -> None:
    assert not check_refused_or_right(*copy)


def test_flipped_bits_are_noticed(original, tmp_path: Path) -> None:
    root, folder, expected = original
    chance = random.Random(3)
    refused = 0
    for number in range(DAMAGES):
        target = tmp_path / str(number)
        shutil.copytree(folder, target)
        path = chance.choice([path for path in index_files(target) if path.stat().st_size])
        data = bytearray(path.read_bytes())
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
        refused += check_refused_or_right(root, target, expected)
    assert refused > DAMAGES // 2


def test_truncated_and_missing_files_are_noticed(original, tmp_path: Path) -> None:
    root, folder, expected = original
    for number, name in enumerate(path.relative_to(folder) for path in index_files(folder)):
        for cut in ("half", "empty", "missing"):
            target = tmp_path / f"{number}{cut}"
            shutil.copytree(folder, target)
            path = target / name
            if cut == "missing":
                path.unlink()
            else:
                os.truncate(path, path.stat().st_size // 2 if cut == "half" else 0)
            check_refused_or_right(root, target, expected)


def test_without_a_clean_close_the_text_files_and_the_structure_are_checked(original, tmp_path: Path) -> None:
    root, folder, expected = original
    chance = random.Random(5)
    for number in range(10):
        target = tmp_path / str(number)
        shutil.copytree(folder, target)
        next(target.glob("index-*/fingerprint.json")).unlink()
        if number:
            path = chance.choice([path for path in target.glob("index-*/text/*.*") if path.stem[:8].isalnum()])
            if path.name in ("meta.json", ".managed.json"):
                continue
            data = bytearray(path.read_bytes())
            data[chance.randrange(len(data))] ^= 0x10
            path.write_bytes(data)
        assert check_refused_or_right(root, target, expected) == (number > 0)


def test_a_deletion_file_that_no_commit_names_is_a_leftover_and_not_damage(copy) -> None:
    root, folder, expected = copy
    next(folder.glob("index-*/fingerprint.json")).unlink()
    text = next(folder.glob("index-*/text"))
    for segment in json.loads((text / "meta.json").read_text())["segments"]:
        # What a kill in the middle of writing the next deletions leaves: torn, and with an opstamp of its own.
        (text / f"{segment['segment_id'].replace('-', '')}.99999.del").write_bytes(b"torn")
    assert not check_refused_or_right(root, folder, expected)
    with opened(root, folder) as index:
        run(index)
        assert index.status().schema_status is SchemaStatus.COMPATIBLE


def test_a_damaged_deletion_file_of_a_commit_is_noticed(copy) -> None:
    root, folder, expected = copy
    next(folder.glob("index-*/fingerprint.json")).unlink()
    deletions = list(folder.glob("index-*/text/*.del"))
    assert deletions, "nothing was deleted: the test proves nothing"
    for path in deletions:
        path.write_bytes(b"torn")
    assert check_refused_or_right(root, folder, expected)


def test_another_schema_version_asks_for_a_rebuild(copy) -> None:
    root, folder, _ = copy
    database = sqlite3.connect(next(folder.glob("index-*/manifest.db")))
    database.execute("PRAGMA user_version = 99")
    database.close()
    with opened(root, folder) as index:
        state = index.status()
        assert state.schema_status is SchemaStatus.REINDEX_REQUIRED
        assert (state.current_schema_version, state.required_schema_version) == (99, SCHEMA_VERSION)
        with pytest.raises(SightlineError) as caught:
            index.start_job(mode=None, force=False, reason="test")
        assert caught.value.code is ErrorCode.INDEX_INCOMPATIBLE


@pytest.mark.parametrize("kind", ["database", "meta", "segments", "pointer", "garbage", "other root"])
def test_foreign_files_are_refused_and_force_builds_anew(copy, kind: str, tmp_path: Path) -> None:
    root, folder, expected = copy
    index_folder = next(folder.glob("index-*"))
    if kind == "database":
        (index_folder / "manifest.db").unlink()
        other = sqlite3.connect(index_folder / "manifest.db")
        other.execute("CREATE TABLE files (id)")
        other.close()
    elif kind == "meta":
        meta = json.loads((index_folder / "text/meta.json").read_text())
        meta["schema"] = meta["schema"][:2]
        (index_folder / "text/meta.json").write_text(json.dumps(meta))
    elif kind == "segments":
        (index_folder / "fingerprint.json").unlink()
        (index_folder / "text/meta.json").write_text('{"segments": [{"segment_id": "x"}, 7]}')
    elif kind == "pointer":
        (folder / "current").write_bytes(b"../../etc\xff")
    elif kind == "garbage":
        for path in index_files(folder):
            path.write_bytes(os.urandom(300))
    else:
        root = tmp_path / "moved"
        write_tree(root, TREE)
    with opened(root, folder) as index:
        with pytest.raises(SightlineError) as caught:
            index.snapshot()
        assert caught.value.code is ErrorCode.INDEX_INCOMPATIBLE
        run(index, force=True)
        assert index.status().schema_status is SchemaStatus.COMPATIBLE
        with index.snapshot() as snapshot:
            assert snapshot.symbols_named("symbol7")
            if kind != "other root":
                assert picture(snapshot) == expected


def test_a_damaged_history_costs_only_the_history(copy) -> None:
    root, folder, expected = copy
    (folder / "jobs.json").write_bytes(b"{not json")
    assert not check_refused_or_right(root, folder, expected)
