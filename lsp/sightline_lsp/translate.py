"""Decoded answers of servers into Sightline's values, one function a method.

**Invariant**: counts, depths and lengths are bounded, offsets are checked against what they index, text is cleaned;
what breaks a rule is dropped and counted, or raises `Malformed`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sightline_core.limits import Limits
from sightline_core.types import Position, Range
from sightline_lsp import shapes
from sightline_lsp.answers import (
    Call,
    CodeAction,
    Completion,
    Diagnostic,
    Edit,
    HierarchyItem,
    Highlight,
    Hover,
    InlayHint,
    OutlineSymbol,
    SemanticToken,
    Signature,
    SignatureHelp,
)
from sightline_lsp.convert import Converter, kind_of
from sightline_lsp.messages import Malformed
from sightline_lsp.texts import FileText

_HIGHLIGHTS = {1: "text", 2: "read", 3: "write"}
_HINTS = {1: "type", 2: "parameter"}
_SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}
_TOKEN_FIELDS = 5
_COMPLETION_KINDS = (
    *("text", "method", "function", "constructor", "field", "variable", "class", "interface", "module"),
    *("property", "unit", "value", "enum", "keyword", "snippet", "color", "file", "reference", "folder"),
    *("enummember", "constant", "struct", "event", "operator", "typeparameter"),
)


def items(found: Sequence[msgspec.Raw] | None, converter: Converter, limits: Limits) -> tuple[HierarchyItem, ...]:
    """The items of a prepared call or type hierarchy."""
    made = [_item(raw, converter) for raw in converter.capped(found or (), limits.lsp_max_items)]
    return tuple(item for item in made if item is not None)


def _item(raw: msgspec.Raw, converter: Converter) -> HierarchyItem | None:
    wire = shapes.ITEM.decode(raw)
    location = converter.location(wire.uri, wire.selection_range)
    span = converter.location(wire.uri, wire.range)
    if location is None or span is None:
        converter.dropped += 1
        return None
    name, detail = converter.line(wire.name), converter.line(wire.detail)
    return HierarchyItem(name, kind_of(wire.kind), detail, location, span.range, bytes(raw))


def incoming(found: list[shapes.WireIncoming] | None, converter: Converter, limits: Limits) -> tuple[Call, ...]:
    """Callers; the places of the calls are in the caller's file."""
    calls: list[Call] = []
    for wire in converter.capped(found or (), limits.lsp_max_items):
        item = _item(wire.from_, converter)
        if item is not None:
            uri = shapes.ITEM.decode(wire.from_).uri
            calls.append(Call(item, _sites(uri, wire.from_ranges, converter, limits)))
    return tuple(calls)


def outgoing(
    found: list[shapes.WireOutgoing] | None, caller: HierarchyItem, converter: Converter, limits: Limits
) -> tuple[Call, ...]:
    """Callees; the places of the calls are in the caller's file."""
    calls: list[Call] = []
    uri = shapes.ITEM.decode(caller.token).uri
    for wire in converter.capped(found or (), limits.lsp_max_items):
        item = _item(wire.to, converter)
        if item is not None:
            calls.append(Call(item, _sites(uri, wire.from_ranges, converter, limits)))
    return tuple(calls)


def _sites(uri: str, spans: list[shapes.WireRange], converter: Converter, limits: Limits) -> tuple[Range, ...]:
    places = (converter.location(uri, span) for span in converter.capped(spans, limits.lsp_max_items))
    return tuple(place.range for place in places if place is not None)


def hover(found: shapes.WireHover | None, text: FileText, converter: Converter) -> Hover | None:
    """Documentation as Markdown; None when there is nothing to say."""
    if found is None:
        return None
    parts = found.contents if isinstance(found.contents, list) else [found.contents]
    shown = "\n\n".join(part for part in (_markup(entry, converter) for entry in parts) if part)
    if not shown:
        return None
    return Hover(shown, converter.range(found.range, text) if found.range else None)


def _markup(entry: shapes.Markup | None, converter: Converter) -> str:
    if entry is None or isinstance(entry, str):
        return converter.text(entry)
    value = converter.text(entry.value)
    return f"```{converter.line(entry.language)}\n{value}\n```" if entry.language and value else value


def highlights(
    found: list[shapes.WireHighlight] | None, text: FileText, converter: Converter, limits: Limits
) -> tuple[Highlight, ...]:
    """Occurrences in one file."""
    return tuple(
        Highlight(converter.range(wire.range, text), _HIGHLIGHTS.get(wire.kind or 1, "text"))
        for wire in converter.capped(found or (), limits.lsp_max_items)
    )


def outline(
    found: list[shapes.WireOutline] | None, text: FileText, converter: Converter, limits: Limits
) -> tuple[OutlineSymbol, ...]:
    """The symbols of one file; the older flat form stays flat."""
    budget = [limits.lsp_max_items * 10]
    return _outline_level(found or [], text, converter, limits.lsp_max_outline_depth, budget)


def _outline_level(
    found: list[shapes.WireOutline], text: FileText, converter: Converter, depth: int, budget: list[int]
) -> tuple[OutlineSymbol, ...]:
    level: list[OutlineSymbol] = []
    for wire in found:
        if depth == 0 or budget[0] <= 0:
            converter.truncated = True
            break
        budget[0] -= 1
        span = wire.range or (wire.location.range if wire.location else None)
        if span is None:
            raise Malformed("a document symbol without a range")
        whole = converter.range(span, text)
        selection = converter.range(wire.selection_range, text) if wire.selection_range else whole
        children = _outline_level(wire.children or [], text, converter, depth - 1, budget)
        name, detail = converter.line(wire.name), converter.line(wire.detail or wire.container_name)
        level.append(OutlineSymbol(name, kind_of(wire.kind), detail, whole, selection, children))
    return tuple(level)


def completions(
    found: list[shapes.WireCompletion] | shapes.WireCompletionList | None, converter: Converter, limits: Limits
) -> tuple[Completion, ...]:
    """Proposals in the order the server wants them shown."""
    wires = found.items if isinstance(found, shapes.WireCompletionList) else found or []
    converter.truncated |= isinstance(found, shapes.WireCompletionList) and found.is_incomplete
    ordered = sorted(wires, key=lambda wire: wire.sort_text or wire.label)
    return tuple(
        Completion(
            label=converter.line(wire.label),
            kind=_COMPLETION_KINDS[wire.kind - 1] if wire.kind and 0 < wire.kind <= len(_COMPLETION_KINDS) else "",
            detail=converter.line(wire.detail),
            documentation=_markup(wire.documentation, converter),
            insert_text=converter.text(wire.insert_text or wire.label),
        )
        for wire in converter.capped(ordered, limits.lsp_max_items)
    )


def signature_help(
    found: shapes.WireSignatureHelp | None, converter: Converter, limits: Limits
) -> SignatureHelp | None:
    """Signatures with the parameters spelled out."""
    if found is None or not found.signatures:
        return None
    wires = converter.capped(found.signatures, limits.lsp_max_items)
    signatures = tuple(_signature(wire, converter, limits) for wire in wires)
    active = _index(found.active_signature, len(signatures))
    chosen = signatures[active or 0]
    return SignatureHelp(signatures, active, _index(found.active_parameter, len(chosen.parameters)))


def _signature(wire: shapes.WireSignature, converter: Converter, limits: Limits) -> Signature:
    labels = tuple(
        converter.line(_parameter(parameter.label, wire.label))
        for parameter in converter.capped(wire.parameters or (), limits.lsp_max_items)
    )
    return Signature(converter.line(wire.label), _markup(wire.documentation, converter), labels)


def _parameter(label: str | list[int], signature: str) -> str:
    if isinstance(label, str):
        return label
    if len(label) != 2 or not 0 <= label[0] <= label[1]:
        return ""
    # These offsets count UTF-16 units whatever the position encoding is.
    units = signature.encode("utf-16-le", "replace")
    return units[label[0] * 2 : label[1] * 2].decode("utf-16-le", "replace")


def _index(number: int | None, count: int) -> int | None:
    return number if number is not None and 0 <= number < count else None


def code_actions(
    found: list[shapes.WireCodeAction] | None, converter: Converter, limits: Limits
) -> tuple[CodeAction, ...]:
    """Proposed fixes with their edits as text; file operations and commands are only mentioned."""
    return tuple(
        CodeAction(
            title=converter.line(wire.title),
            kind=converter.line(wire.kind),
            preferred=wire.is_preferred,
            edits=_edits(wire.edit, converter, limits),
            has_command=wire.command is not None,
        )
        for wire in converter.capped(found or (), limits.lsp_max_items)
    )


def _edits(edit: shapes.WireWorkspaceEdit | None, converter: Converter, limits: Limits) -> tuple[Edit, ...]:
    if edit is None:
        return ()
    pairs = [(uri, change) for uri, changes in (edit.changes or {}).items() for change in changes]
    for document in edit.document_changes or ():
        if document.kind or document.text_document is None:
            converter.dropped += 1
            continue
        pairs.extend((document.text_document.uri, change) for change in document.edits or ())
    made: list[Edit] = []
    for uri, change in converter.capped(pairs, limits.lsp_max_items):
        location = converter.location(uri, change.range)
        if location is None or location.in_root is None:
            converter.dropped += 1
        else:
            made.append(Edit(location, converter.text(change.new_text)))
    return tuple(made)


def inlay_hints(
    found: list[shapes.WireInlayHint] | None, text: FileText, converter: Converter, limits: Limits
) -> tuple[InlayHint, ...]:
    """Hints in the order of the file."""
    made = (
        InlayHint(
            position=converter.position(wire.position, text),
            label=converter.line(wire.label if isinstance(wire.label, str) else "".join(p.value for p in wire.label)),
            kind=_HINTS.get(wire.kind or 0, ""),
        )
        for wire in converter.capped(found or (), limits.lsp_max_items)
    )
    return tuple(sorted(made, key=lambda hint: hint.position))


def semantic_tokens(
    found: shapes.WireSemanticTokens | None,
    legend: tuple[tuple[str, ...], tuple[str, ...]],
    text: FileText,
    converter: Converter,
    limits: Limits,
) -> tuple[SemanticToken, ...]:
    """The delta-encoded numbers as tokens; raises `Malformed` when they do not add up."""
    data = found.data if found is not None else []
    if len(data) % _TOKEN_FIELDS or any(number < 0 for number in data):
        raise Malformed("semantic tokens that are no groups of five natural numbers")
    numbers = converter.capped(data, limits.lsp_max_tokens * _TOKEN_FIELDS)
    types, modifiers = legend
    tokens: list[SemanticToken] = []
    line = character = 0
    for at in range(0, len(numbers), _TOKEN_FIELDS):
        down, right, length, type_, bits = numbers[at : at + _TOKEN_FIELDS]
        line, character = line + down, right if down else character + right
        start = shapes.WirePosition(line, character)
        end = shapes.WirePosition(line, character + length)
        span = converter.range(shapes.WireRange(start, end), text)
        name = converter.line(types[type_]) if type_ < len(types) else ""
        set_ = tuple(converter.line(word) for bit, word in enumerate(modifiers) if bits >> bit & 1)
        tokens.append(SemanticToken(span, name, set_))
    return tuple(tokens)


def diagnostics(
    found: Sequence[shapes.WireDiagnostic], text: FileText, converter: Converter, limits: Limits
) -> tuple[Diagnostic, ...]:
    """Findings in the order of the file, worst first on one line."""
    made: list[tuple[Position, int, Diagnostic]] = []
    for wire in converter.capped(found, limits.lsp_max_diagnostics_per_file):
        span = converter.range(wire.range, text)
        rank = wire.severity if wire.severity in _SEVERITIES else 1
        message = wire.message if isinstance(wire.message, str) else wire.message.value
        finding = Diagnostic(
            range=span,
            severity=_SEVERITIES[rank],
            message=converter.text(message),
            code=converter.line(None if wire.code is None else str(wire.code)),
            source=converter.line(wire.source),
        )
        made.append((span.start, rank, finding))
    return tuple(finding for _, _, finding in sorted(made, key=lambda entry: (entry[0].line, entry[1], entry[0])))
