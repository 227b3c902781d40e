"""The answers of language servers as they are on the wire, decoded by msgspec straight from bytes.

**Invariant**: only what Sightline uses is named; unknown fields are skipped, wrong types are refused. Every number
and text here is still untrusted: `convert` validates it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sightline_lsp.messages import Shape


class Wire(msgspec.Struct, rename="camel", gc=False, omit_defaults=True):
    """A value of the protocol."""


class WirePosition(Wire):
    """Zero-based, in the negotiated unit."""

    line: int
    character: int


class WireRange(Wire):
    """End-exclusive."""

    start: WirePosition
    end: WirePosition


class WireLocation(Wire):
    """A `Location`, or a `LocationLink` by its target fields."""

    uri: str = ""
    range: WireRange | None = None
    target_uri: str = ""
    target_range: WireRange | None = None
    target_selection_range: WireRange | None = None


class SymbolPlace(Wire):
    """The location of a workspace symbol, whose range a server may leave out."""

    uri: str
    range: WireRange | None = None


class WireSymbol(Wire):
    """An entry of `workspace/symbol`."""

    name: str
    kind: int
    location: SymbolPlace
    container_name: str | None = None


class WireOutline(Wire):
    """`DocumentSymbol` and the older flat `SymbolInformation` in one."""

    name: str
    kind: int
    detail: str | None = None
    range: WireRange | None = None
    selection_range: WireRange | None = None
    children: list[WireOutline] | None = None
    location: SymbolPlace | None = None
    container_name: str | None = None


class WireItem(Wire):
    """An item of the call or type hierarchy."""

    name: str
    kind: int
    uri: str
    range: WireRange
    selection_range: WireRange
    detail: str | None = None


class WireIncoming(Wire):
    """A caller; `from` is kept encoded because the server wants it back unchanged."""

    from_ranges: list[WireRange]
    from_: msgspec.Raw = msgspec.field(name="from")


class WireOutgoing(Wire):
    """A callee."""

    from_ranges: list[WireRange]
    to: msgspec.Raw


class WireMarkup(Wire):
    """`MarkupContent`, or the older pair of language and value."""

    value: str
    kind: str = "markdown"
    language: str = ""


Markup = str | WireMarkup


class WireHover(Wire):
    """A hover."""

    contents: str | WireMarkup | list[str | WireMarkup]
    range: WireRange | None = None


class WireHighlight(Wire):
    """An occurrence in a document."""

    range: WireRange
    kind: int | None = None


class WireCompletion(Wire):
    """A completion item."""

    label: str
    kind: int | None = None
    detail: str | None = None
    documentation: Markup | None = None
    insert_text: str | None = None
    sort_text: str | None = None


class WireCompletionList(Wire):
    """A list of completions."""

    items: list[WireCompletion]
    is_incomplete: bool = False


class WireParameter(Wire):
    """A parameter of a signature; the label is text or two offsets into the signature."""

    label: str | list[int]
    documentation: Markup | None = None


class WireSignature(Wire):
    """One signature."""

    label: str
    documentation: Markup | None = None
    parameters: list[WireParameter] | None = None


class WireSignatureHelp(Wire):
    """Signature help."""

    signatures: list[WireSignature]
    active_signature: int | None = None
    active_parameter: int | None = None


class WireTextEdit(Wire):
    """One replacement."""

    range: WireRange
    new_text: str


class WireDocumentId(Wire):
    """The document that edits belong to."""

    uri: str


class WireDocumentEdit(Wire):
    """The edits of one document, or a file operation (`kind`), which is never carried out."""

    text_document: WireDocumentId | None = None
    edits: list[WireTextEdit] | None = None
    kind: str = ""


class WireWorkspaceEdit(Wire):
    """A proposed edit."""

    changes: dict[str, list[WireTextEdit]] | None = None
    document_changes: list[WireDocumentEdit] | None = None


class WireCodeAction(Wire):
    """A code action, or a bare command (`command` is then text)."""

    title: str
    kind: str | None = None
    is_preferred: bool = False
    edit: WireWorkspaceEdit | None = None
    command: Any = None


class WireLabelPart(Wire):
    """A part of an inlay hint's label."""

    value: str


class WireInlayHint(Wire):
    """An inlay hint."""

    position: WirePosition
    label: str | list[WireLabelPart]
    kind: int | None = None


class WireSemanticTokens(Wire):
    """Semantic tokens, five numbers each."""

    data: list[int]


class WireDiagnostic(Wire):
    """A diagnostic."""

    range: WireRange
    message: str | WireMarkup
    severity: int | None = None
    code: int | str | None = None
    source: str | None = None


class WirePublished(Wire):
    """`textDocument/publishDiagnostics`."""

    uri: str
    diagnostics: list[WireDiagnostic]
    version: int | None = None


class WireReport(Wire):
    """The answer to a pulled diagnostic request."""

    kind: str
    items: list[WireDiagnostic] | None = None
    result_id: str | None = None


class WireProgressValue(Wire):
    """The begin, report or end of a work-done progress."""

    kind: str = ""
    title: str = ""
    message: str | None = None
    percentage: int | float | None = None


class WireProgress(Wire):
    """`$/progress`."""

    token: int | str
    value: WireProgressValue


class WireToken(Wire):
    """The parameters of `window/workDoneProgress/create`."""

    token: int | str


class WireConfigItem(Wire):
    """One asked section."""

    section: str | None = None
    scope_uri: str | None = None


class WireConfigParams(Wire):
    """`workspace/configuration`."""

    items: list[WireConfigItem]


class WireRegistration(Wire):
    """One dynamic registration."""

    id: str
    method: str
    register_options: Any = None


class WireRegistrations(Wire):
    """`client/registerCapability`."""

    registrations: list[WireRegistration]


class WireUnregistration(Wire):
    """One withdrawal."""

    id: str
    method: str


class WireUnregistrations(Wire):
    """`client/unregisterCapability`; the protocol's own spelling."""

    unregisterations: list[WireUnregistration]


class WireServerInfo(Wire):
    """What a server says about itself."""

    name: str = ""
    version: str | None = None


class WireInitialized(Wire):
    """The answer to `initialize`; capabilities are looked at key by key."""

    capabilities: dict[str, Any]
    server_info: WireServerInfo | None = None


NOTHING: Shape[Any] = Shape(Any)
LOCATIONS: Shape[list[WireLocation] | WireLocation | None] = Shape(list[WireLocation] | WireLocation | None)
SYMBOLS: Shape[list[WireSymbol] | None] = Shape(list[WireSymbol] | None)
OUTLINE: Shape[list[WireOutline] | None] = Shape(list[WireOutline] | None)
RAW_ITEMS: Shape[list[msgspec.Raw] | None] = Shape(list[msgspec.Raw] | None)
ITEM: Shape[WireItem] = Shape(WireItem)
INCOMING: Shape[list[WireIncoming] | None] = Shape(list[WireIncoming] | None)
OUTGOING: Shape[list[WireOutgoing] | None] = Shape(list[WireOutgoing] | None)
HOVER: Shape[WireHover | None] = Shape(WireHover | None)
HIGHLIGHTS: Shape[list[WireHighlight] | None] = Shape(list[WireHighlight] | None)
COMPLETIONS: Shape[list[WireCompletion] | WireCompletionList | None] = Shape(
    list[WireCompletion] | WireCompletionList | None
)
SIGNATURES: Shape[WireSignatureHelp | None] = Shape(WireSignatureHelp | None)
ACTIONS: Shape[list[WireCodeAction] | None] = Shape(list[WireCodeAction] | None)
HINTS: Shape[list[WireInlayHint] | None] = Shape(list[WireInlayHint] | None)
TOKENS: Shape[WireSemanticTokens | None] = Shape(WireSemanticTokens | None)
REPORT: Shape[WireReport | None] = Shape(WireReport | None)
PUBLISHED: Shape[WirePublished] = Shape(WirePublished)
PROGRESS: Shape[WireProgress] = Shape(WireProgress)
TOKEN: Shape[WireToken] = Shape(WireToken)
CONFIGURATION: Shape[WireConfigParams] = Shape(WireConfigParams)
REGISTRATIONS: Shape[WireRegistrations] = Shape(WireRegistrations)
UNREGISTRATIONS: Shape[WireUnregistrations] = Shape(WireUnregistrations)
INITIALIZED: Shape[WireInitialized] = Shape(WireInitialized)


def raw(data: bytes) -> msgspec.Raw:
    """Encoded JSON, to be put into a message as it is."""
    return msgspec.Raw(data)
