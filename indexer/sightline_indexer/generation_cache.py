"""What searches asked of one generation and will ask again: facts of files and how many files hold a word.

**Invariant**: everything in it was read from that generation, which never changes; a new generation begins empty.
Shared by the threads of a process: entries are only added, and losing one costs a question to the index.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

from sightline_indexer.manifest import FileFacts, live_facts


@dataclass(frozen=True, slots=True)
class GenerationCache:
    """`frequencies` leads from a field and a word to the number of files, `facts` from a file's id to it.

    `gone` are ids that were asked for and belong to no file of the generation.
    """

    generation: int
    facts: dict[int, FileFacts] = field(default_factory=dict[int, FileFacts])
    gone: set[int] = field(default_factory=set[int])
    frequencies: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])

    def keep_frequency(self, key: tuple[str, str], files: int, bound: int) -> None:
        """Remember a frequency; beyond `bound` all are forgotten first."""
        if len(self.frequencies) >= bound:
            self.frequencies.clear()
        self.frequencies[key] = files

    def facts_of(self, connection: sqlite3.Connection, file_ids: set[int]) -> dict[int, FileFacts]:
        """Id → what ranking weighs a file by, for those ids that belong to the generation among others; read only."""
        unknown = file_ids.difference(self.facts).difference(self.gone)
        if unknown:
            found = {facts.file_id: facts for facts in live_facts(connection, self.generation, unknown)}
            self.facts.update(found)
            self.gone.update(unknown.difference(found))
        return self.facts
