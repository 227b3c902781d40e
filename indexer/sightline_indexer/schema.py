"""The shape of the text index: its fields, its tokenizer and the version that both sides must agree on.

**Invariant**: an index is opened through this module only, because a tokenizer must be registered at every open and
a reader must never move to another commit by itself.
"""

from __future__ import annotations

import tantivy

# Raised whenever a field, a word rule or a table of the manifest changes its meaning.
SCHEMA_VERSION = 2

# Every field of a document; there is one document a file, and one more that holds the generation.
KEY = "key"  # the path, untokenised: what documents are deleted by
FILE = "file"  # the id of the manifest's row; on the generation document, the generation
CONTENT = "content"  # whole words
PARTS = "parts"  # the parts of compound words: `parseHTTPRequest` gives `parse http request`
PATH = "path"  # words and parts of the path
NAMES = "names"  # whole names of the definitions, one token each
SYMBOLS = "symbols"  # words and parts of the definitions' names
DOCS = "docs"  # words and parts of the definitions' doc lines
LANGUAGE = "language"  # one untokenised token
MARKS = "marks"  # facts about the file, see `file_traits`; and LONG_WORD

# A path never begins with a NUL, so no file can have this key.
GENERATION_KEY = "\0generation"
# The mark of a file with words too long to be indexed: no word query may rule it out.
LONG_WORD = "long_word"

_TOKENIZER = "sightline_spaces"
_RAW = "raw"


def build_schema() -> tantivy.Schema:
    """The schema that this version writes and reads."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field(KEY, tokenizer_name=_RAW, index_option="basic")
    builder.add_unsigned_field(FILE, fast=True)
    # Positions would take a sixth to a fifth of the whole index; who wants words in their order reads the files.
    for name in (CONTENT, PARTS, PATH, SYMBOLS, DOCS):
        builder.add_text_field(name, tokenizer_name=_TOKENIZER, index_option="freq")
    for name in (NAMES, LANGUAGE, MARKS):
        builder.add_text_field(name, tokenizer_name=_TOKENIZER, index_option="basic")
    return builder.build()


def create_text_index(folder: str) -> tantivy.Index:
    """A new, empty index in an existing folder."""
    return _prepare(tantivy.Index(build_schema(), path=folder, reuse=False))


def open_text_index(folder: str) -> tantivy.Index:
    """The index in `folder`; raises ValueError when there is none or it is not readable."""
    return _prepare(tantivy.Index.open(folder))


def _prepare(index: tantivy.Index) -> tantivy.Index:
    # The words arrive lower-cased and separated; splitting at spaces is all that is left to do.
    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(_TOKENIZER, analyzer)
    index.config_reader(reload_policy="manual")
    return index
