"""The words of an index: written once, safe after a flush, found by their parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline_indexer.vocabulary import Edge, Vocabulary, VocabularyWriter, write_empty_vocabulary


@pytest.fixture
def folder(tmp_path: Path) -> str:
    write_empty_vocabulary(str(tmp_path))
    return str(tmp_path)


def words(folder: str, piece: bytes, edge: Edge = Edge.ANYWHERE) -> set[bytes]:
    vocabulary = Vocabulary(folder, 1024)
    try:
        return set(vocabulary.words_with(piece, edge, 100) or ())
    finally:
        vocabulary.close()


def test_a_word_is_new_once_until_the_memory_is_full(folder: str) -> None:
    writer = VocabularyWriter(folder, 4, 0)
    assert writer.unseen([b"one", b"two", b"one"]) == [b"one", b"two"]
    assert writer.unseen([b"two", b"three"]) == [b"three"]
    assert writer.unseen([b"four", b"five"]) == [b"four", b"five"]
    assert writer.unseen([b"one"]) == [b"one"]
    writer.close()


def test_words_are_found_after_a_flush_and_remembered_by_the_next_writer(folder: str) -> None:
    writer = VocabularyWriter(folder, 100, 0)
    writer.add([b"parsehttp", b"http"])
    writer.add([])
    writer.flush()
    settled = writer.size
    writer.add([b"httpd"])
    writer.flush()
    writer.close()
    assert words(folder, b"http") == {b"parsehttp", b"http", b"httpd"}
    assert words(folder, b"http", Edge.START) == {b"http", b"httpd"}
    assert words(folder, b"http", Edge.END) == {b"http", b"parsehttp"}
    again = VocabularyWriter(folder, 100, settled)
    assert again.unseen([b"http", b"httpd"]) == [b"http"]
    again.close()


def test_a_torn_word_does_not_merge_with_the_next_one(folder: str) -> None:
    Path(folder, "vocabulary").write_bytes(b"\nalpha\nbet")
    writer = VocabularyWriter(folder, 100, 0)
    assert writer.unseen([b"alpha", b"bet", b"beta"]) == [b"bet", b"beta"]
    writer.add([b"beta"])
    writer.flush()
    writer.close()
    assert words(folder, b"bet", Edge.START) >= {b"beta"}
    assert b"betbeta" not in words(folder, b"bet")
