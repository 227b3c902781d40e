"""Documents of the text index, made from what a worker extracted.

**Invariant**: every field is given in the type that the schema wants, because a wrong one is only noticed at commit
and then loses the whole batch.
"""

from __future__ import annotations

import tantivy

from sightline_indexer import schema
from sightline_indexer.file_traits import marks_of
from sightline_indexer.records import Extracted


def file_document(file: Extracted, file_id: int, text_schema: tantivy.Schema) -> tantivy.Document:
    """The document of one file; raises ValueError when a value does not fit the schema."""
    marks = marks_of(file.traits)
    fields: dict[str, str | int] = {
        schema.KEY: file.path,
        schema.FILE: file_id,
        schema.CONTENT: file.content,
        schema.PARTS: file.parts,
        schema.PATH: file.path_words,
        schema.NAMES: file.names,
        schema.SYMBOLS: file.symbol_words,
        schema.DOCS: file.docs,
        schema.LANGUAGE: file.language,
        schema.MARKS: f"{marks} {schema.LONG_WORD}" if file.has_long_word else marks,
    }
    return _document(fields, text_schema)


def generation_document(generation: int, text_schema: tantivy.Schema) -> tantivy.Document:
    """The document that says which generation a commit is."""
    return _document({schema.KEY: schema.GENERATION_KEY, schema.FILE: generation}, text_schema)


def _document(fields: dict[str, str | int], text_schema: tantivy.Schema) -> tantivy.Document:
    # Checked against the schema here; a document built by keywords would take any type.
    return tantivy.Document.from_dict(fields, text_schema)  # pyright: ignore[reportUnknownMemberType]
