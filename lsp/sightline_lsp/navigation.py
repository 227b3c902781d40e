"""The typed questions to a language server, each a request and its translation.

**Invariant**: every answer says whether its server had loaded (`source.status`); every failure is an `LspError` under
the language that was asked about, or a fault of the path itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from sightline_core.limits import Limits
from sightline_core.paths import RepoPath
from sightline_core.types import Position, Range
from sightline_lsp import answers, shapes, translate
from sightline_lsp.answers import HierarchyItem, LspLocation, Reply
from sightline_lsp.client import Client
from sightline_lsp.convert import Converter
from sightline_lsp.documents import Synced
from sightline_lsp.messages import Shape

T = TypeVar("T")
W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class Session:
    """What one question needs: the server, the document as it knows it, and the time that is left."""

    client: Client
    document: Synced
    converter: Converter
    limits: Limits
    deadline: float

    async def ask(self, method: str, params: Any, shape: Shape[W]) -> W:
        """One request within the rest of the deadline."""
        left = self.deadline - anyio.current_time()
        return await self.client.ask(method, params, shape, timeout_s=max(0.0, left))

    def at(self, position: Position) -> dict[str, Any]:
        """The parameters of a position in the document."""
        line, character = self.document.text.to_wire(position, self.client.offers.unit)
        return {"textDocument": {"uri": self.document.uri}, "position": {"line": line, "character": character}}

    def over(self, span: Range) -> dict[str, Any]:
        """The parameters of a range in the document."""
        start, end = self.at(span.start)["position"], self.at(span.end)["position"]
        return {"textDocument": {"uri": self.document.uri}, "range": {"start": start, "end": end}}

    @property
    def whole(self) -> dict[str, Any]:
        """The parameters of the document itself."""
        return {"textDocument": {"uri": self.document.uri}}

    async def locations(self, method: str, params: dict[str, Any]) -> tuple[LspLocation, ...]:
        """A request whose answer is places; files are read beside the loop when there are many."""
        found = await self.ask(method, params, shapes.LOCATIONS)
        return await off_loop(self.limits, _size(found), lambda: self.converter.locations(found))


class Navigation(ABC):
    """The questions of the pool; `_with_document` is how a server and a document are had."""

    _limits: Limits

    @abstractmethod
    async def _with_document(
        self, root: str, path: RepoPath, deadline_s: float, question: Callable[[Session], Awaitable[T]]
    ) -> Reply[T]: ...

    async def definition(
        self, root: str, path: RepoPath, position: Position, deadline_s: float
    ) -> Reply[tuple[LspLocation, ...]]:
        """Where the name at `position` is defined."""
        return await self._places("textDocument/definition", root, path, position, deadline_s)

    async def declaration(
        self, root: str, path: RepoPath, position: Position, deadline_s: float
    ) -> Reply[tuple[LspLocation, ...]]:
        """Where it is declared."""
        return await self._places("textDocument/declaration", root, path, position, deadline_s)

    async def type_definition(
        self, root: str, path: RepoPath, position: Position, deadline_s: float
    ) -> Reply[tuple[LspLocation, ...]]:
        """Where its type is defined."""
        return await self._places("textDocument/typeDefinition", root, path, position, deadline_s)

    async def implementation(
        self, root: str, path: RepoPath, position: Position, deadline_s: float
    ) -> Reply[tuple[LspLocation, ...]]:
        """Where it is implemented."""
        return await self._places("textDocument/implementation", root, path, position, deadline_s)

    async def references(
        self, root: str, path: RepoPath, position: Position, deadline_s: float, *, include_declaration: bool = True
    ) -> Reply[tuple[LspLocation, ...]]:
        """Where it is used."""

        async def question(session: Session) -> tuple[LspLocation, ...]:
            params = session.at(position) | {"context": {"includeDeclaration": include_declaration}}
            return await session.locations("textDocument/references", params)

        return await self._with_document(root, path, deadline_s, question)

    async def prepare_calls(
        self, root: str, path: RepoPath, position: Position, deadline_s: float
    ) -> Reply[tuple[HierarchyItem, ...]]:
        """The functions at `position`, to ask callers and callees of."""
        return await self._prepare("textDocument/prepareCallHierarchy", root, path, position, deadline_s)

    async def prepare_types(
        self, root: str, path: RepoPath, position: Position, deadline_s: float
    ) -> Reply[tuple[HierarchyItem, ...]]:
        """The types at `position`, to ask super- and subtypes of."""
        return await self._prepare("textDocument/prepareTypeHierarchy", root, path, position, deadline_s)

    async def incoming_calls(
        self, root: str, path: RepoPath, item: HierarchyItem, deadline_s: float
    ) -> Reply[tuple[answers.Call, ...]]:
        """Who calls `item`; `path` is the file the item was prepared in."""

        async def question(session: Session) -> tuple[answers.Call, ...]:
            found = await session.ask("callHierarchy/incomingCalls", _raw_item(item), shapes.INCOMING)
            convert = translate.incoming
            return await off_loop(self._limits, _size(found), lambda: convert(found, session.converter, self._limits))

        return await self._with_document(root, path, deadline_s, question)

    async def outgoing_calls(
        self, root: str, path: RepoPath, item: HierarchyItem, deadline_s: float
    ) -> Reply[tuple[answers.Call, ...]]:
        """Whom `item` calls."""

        async def question(session: Session) -> tuple[answers.Call, ...]:
            found = await session.ask("callHierarchy/outgoingCalls", _raw_item(item), shapes.OUTGOING)
            convert = translate.outgoing
            return await off_loop(
                self._limits, _size(found), lambda: convert(found, item, session.converter, self._limits)
            )

        return await self._with_document(root, path, deadline_s, question)

    async def supertypes(
        self, root: str, path: RepoPath, item: HierarchyItem, deadline_s: float
    ) -> Reply[tuple[HierarchyItem, ...]]:
        """What `item` inherits from."""
        return await self._relatives("typeHierarchy/supertypes", root, path, item, deadline_s)

    async def subtypes(
        self, root: str, path: RepoPath, item: HierarchyItem, deadline_s: float
    ) -> Reply[tuple[HierarchyItem, ...]]:
        """What inherits from `item`."""
        return await self._relatives("typeHierarchy/subtypes", root, path, item, deadline_s)

    async def hover(
        self, root: str, path: RepoPath, position: Position, deadline_s: float
    ) -> Reply[answers.Hover | None]:
        """What the server shows about `position`."""

        async def question(session: Session) -> answers.Hover | None:
            found = await session.ask("textDocument/hover", session.at(position), shapes.HOVER)
            return translate.hover(found, session.document.text, session.converter)

        return await self._with_document(root, path, deadline_s, question)

    async def document_highlights(
        self, root: str, path: RepoPath, position: Position, deadline_s: float
    ) -> Reply[tuple[answers.Highlight, ...]]:
        """Occurrences in the same file."""

        async def question(session: Session) -> tuple[answers.Highlight, ...]:
            found = await session.ask("textDocument/documentHighlight", session.at(position), shapes.HIGHLIGHTS)
            return translate.highlights(found, session.document.text, session.converter, self._limits)

        return await self._with_document(root, path, deadline_s, question)

    async def document_symbols(
        self, root: str, path: RepoPath, deadline_s: float
    ) -> Reply[tuple[answers.OutlineSymbol, ...]]:
        """The symbols of a file."""

        async def question(session: Session) -> tuple[answers.OutlineSymbol, ...]:
            found = await session.ask("textDocument/documentSymbol", session.whole, shapes.OUTLINE)
            return translate.outline(found, session.document.text, session.converter, self._limits)

        return await self._with_document(root, path, deadline_s, question)

    async def completion(
        self, root: str, path: RepoPath, position: Position, deadline_s: float
    ) -> Reply[tuple[answers.Completion, ...]]:
        """What could stand at `position`."""

        async def question(session: Session) -> tuple[answers.Completion, ...]:
            found = await session.ask("textDocument/completion", session.at(position), shapes.COMPLETIONS)
            return translate.completions(found, session.converter, self._limits)

        return await self._with_document(root, path, deadline_s, question)

    async def signature_help(
        self, root: str, path: RepoPath, position: Position, deadline_s: float
    ) -> Reply[answers.SignatureHelp | None]:
        """The signatures of the call around `position`."""

        async def question(session: Session) -> answers.SignatureHelp | None:
            found = await session.ask("textDocument/signatureHelp", session.at(position), shapes.SIGNATURES)
            return translate.signature_help(found, session.converter, self._limits)

        return await self._with_document(root, path, deadline_s, question)

    async def code_actions(
        self, root: str, path: RepoPath, span: Range, deadline_s: float
    ) -> Reply[tuple[answers.CodeAction, ...]]:
        """Fixes the server proposes for `span`, as text."""

        async def question(session: Session) -> tuple[answers.CodeAction, ...]:
            known = session.client.diagnostics.get(path.absolute)
            params = session.over(span) | {"context": {"diagnostics": list(known.items) if known else []}}
            found = await session.ask("textDocument/codeAction", params, shapes.ACTIONS)
            return translate.code_actions(found, session.converter, self._limits)

        return await self._with_document(root, path, deadline_s, question)

    async def inlay_hints(
        self, root: str, path: RepoPath, span: Range, deadline_s: float
    ) -> Reply[tuple[answers.InlayHint, ...]]:
        """Hints inside `span`."""

        async def question(session: Session) -> tuple[answers.InlayHint, ...]:
            found = await session.ask("textDocument/inlayHint", session.over(span), shapes.HINTS)
            return translate.inlay_hints(found, session.document.text, session.converter, self._limits)

        return await self._with_document(root, path, deadline_s, question)

    async def semantic_tokens(
        self, root: str, path: RepoPath, deadline_s: float
    ) -> Reply[tuple[answers.SemanticToken, ...]]:
        """The classified words of a file."""

        async def question(session: Session) -> tuple[answers.SemanticToken, ...]:
            found = await session.ask("textDocument/semanticTokens/full", session.whole, shapes.TOKENS)
            legend = session.client.offers.token_legend()
            return translate.semantic_tokens(found, legend, session.document.text, session.converter, self._limits)

        return await self._with_document(root, path, deadline_s, question)

    # -- shared forms --------------------------------------------------------------------------

    async def _places(
        self, method: str, root: str, path: RepoPath, position: Position, deadline_s: float
    ) -> Reply[tuple[LspLocation, ...]]:
        return await self._with_document(
            root, path, deadline_s, lambda session: session.locations(method, session.at(position))
        )

    async def _prepare(
        self, method: str, root: str, path: RepoPath, position: Position, deadline_s: float
    ) -> Reply[tuple[HierarchyItem, ...]]:
        async def question(session: Session) -> tuple[HierarchyItem, ...]:
            found = await session.ask(method, session.at(position), shapes.RAW_ITEMS)
            return translate.items(found, session.converter, self._limits)

        return await self._with_document(root, path, deadline_s, question)

    async def _relatives(
        self, method: str, root: str, path: RepoPath, item: HierarchyItem, deadline_s: float
    ) -> Reply[tuple[HierarchyItem, ...]]:
        async def question(session: Session) -> tuple[HierarchyItem, ...]:
            found = await session.ask(method, _raw_item(item), shapes.RAW_ITEMS)
            convert = translate.items
            return await off_loop(self._limits, _size(found), lambda: convert(found, session.converter, self._limits))

        return await self._with_document(root, path, deadline_s, question)


async def off_loop(limits: Limits, size: int, work: Callable[[], T]) -> T:
    """Run `work` here when it reads few files, else in a worker thread."""
    if size <= limits.lsp_inline_reads:
        return work()
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


def _size(found: Any) -> int:
    return len(found) if isinstance(found, list) else 1  # pyright: ignore[reportUnknownArgumentType]


def _raw_item(item: HierarchyItem) -> dict[str, Any]:
    return {"item": shapes.raw(item.token)}
