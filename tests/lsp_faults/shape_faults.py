"""Faults of the content: right envelope, wrong result."""

from __future__ import annotations

from typing import Any

from lsp_faults.fault import GARBAGE, METHODS, OK, REFUSED, UNSUPPORTED, Fault, on, reply

_SPAN = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}
_FAR = {"start": {"line": 9999, "character": 4}, "end": {"line": 9999, "character": 9000}}
_BACK = {"start": {"line": 1, "character": 4}, "end": {"line": 0, "character": 1}}
_NEGATIVE = {"start": {"line": -1, "character": -4}, "end": {"line": 0, "character": 1}}
_HUGE = {"start": {"line": 10**30, "character": 0}, "end": {"line": 10**30, "character": 1}}
_TEXT = {"start": {"line": "0", "character": "4"}, "end": {"line": "0", "character": "9"}}

_PLACES = ("definition", "declaration", "type_definition", "implementation", "references")


def shape_faults() -> list[Fault]:
    return [*_wrong_types(), *_refusals(), *_places(), *_uris(), *_values(), *_more_values(), *_empties()]


def _wrong_types() -> list[Fault]:
    """Every question answered with a number and with a list of numbers."""
    faults: list[Fault] = []
    for ask in METHODS:
        faults.append(Fault(f"shape: {ask} is a number", on(ask, reply(7)), GARBAGE, ask))
        faults.append(Fault(f"shape: {ask} is a list of numbers", on(ask, reply([1, 2])), GARBAGE, ask))
    return faults


def _refusals() -> list[Fault]:
    faults: list[Fault] = []
    for ask in METHODS:
        missing = {"do": "error", "code": -32601}
        faults.append(Fault(f"lie: {ask} is offered and unknown", on(ask, missing), UNSUPPORTED, ask))
    for code in (-32603, -32700, -32800, -32803, -32002, 0, 12345, 10**20):
        error = {"do": "error", "code": code, "message": "no \u202e\x07 way"}
        faults.append(Fault(f"refusal: code {code}", on("hover", error), REFUSED))
    long = {"do": "error", "code": 1, "message": "x" * 500_000}
    faults.append(Fault("refusal: half a megabyte of message", on("hover", long), REFUSED))
    return faults


def _empties() -> list[Fault]:
    """Null is a valid way to say nothing."""
    faults: list[Fault] = []
    for ask in METHODS:
        faults.append(Fault(f"empty: {ask} is null", on(ask, reply(None)), OK, ask, check=lambda value: not value))
    return faults


def _places() -> list[Fault]:
    def place(span: Any) -> dict[str, Any]:
        return reply([{"uri": "{root}/main.py", "range": span}])

    faults: list[Fault] = []
    for ask in _PLACES:
        clamped = on(ask, place(_FAR))
        faults.append(
            Fault(f"place: {ask} beyond the file", clamped, OK, ask, check=lambda v: v[0].range.start.line == 2)
        )
        faults.append(Fault(f"place: {ask} at a negative line", on(ask, place(_NEGATIVE)), OK, ask, check=_nothing))
    faults += [
        Fault("place: ends before it starts", on("definition", place(_BACK)), OK, "definition", check=_not_backwards),
        Fault("place: line of thirty digits", on("definition", place(_HUGE)), OK, "definition", check=_nothing),
        Fault("place: line is text", on("definition", place(_TEXT)), GARBAGE, "definition"),
        Fault("place: range is null", on("definition", place(None)), GARBAGE, "definition"),
        Fault("place: range is missing", on("definition", reply([{"uri": "{root}/main.py"}])), GARBAGE, "definition"),
        Fault("place: no URI", on("definition", reply([{"range": _SPAN}])), GARBAGE, "definition"),
        Fault("place: an empty object", on("definition", reply({})), GARBAGE, "definition"),
        Fault("place: a list of nulls", on("definition", reply([None])), GARBAGE, "definition"),
        Fault("place: eight thousand", _many_places(), OK, "references", check=lambda v: len(v) == 1),
        Fault(
            "place: link without a target range",
            on("definition", reply([{"targetUri": "{root}/main.py"}])),
            GARBAGE,
            "definition",
        ),
    ]
    return faults


def _many_places() -> dict[str, Any]:
    element = {"uri": "{root}/main.py", "range": _SPAN}
    return on("references", {"do": "repeat", "element": element, "times": 8_000})


def _uris() -> list[Fault]:
    def answer(uri: str) -> dict[str, Any]:
        return on("definition", reply([{"uri": uri, "range": _SPAN}]))

    external = {
        "passwd": "file:///etc/passwd",
        "out by dots": "file:///etc/../etc/passwd",
        "out of the root by dots": "{root}/../../../../../../../../etc/passwd",
        "encoded dots": "{root}/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "encoded slashes": "{root}%2f..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
        "proc": "file:///proc/self/environ",
        "three slashes more": "file://////etc/passwd",
        "sibling with the root's name": "{root}-other/secret.py",
    }
    dropped = {
        "http": "http://example.com/main.py",
        "untitled": "untitled:Untitled-1",
        "jar": "jdt://contents/java.base/String.class",
        "another host": "file://evil.example/etc/passwd",
        "relative": "main.py",
        "no scheme": "/etc/passwd",
        "NUL inside": "{root}/main.py%00.txt",
        "not UTF-8": "{root}/%ff%fe.py",
        "javascript": "javascript:alert(1)",
        "gone from disk": "{root}/no/such/file.py",
        "a directory": "{root}",
        "ten thousand characters": "{root}/" + "a" * 10_000,
        "data": "data:text/plain,hello",
        "only the scheme": "file:",
        "scheme and slashes": "file://",
    }
    faults = [
        Fault(f"uri: {name} is external", answer(uri), OK, "definition", check=_external)
        for name, uri in external.items()
    ]
    faults += [
        Fault(f"uri: {name} is dropped", answer(uri), OK, "definition", check=_nothing)
        for name, uri in dropped.items()
    ]
    faults.append(Fault("uri: empty", answer(""), GARBAGE, "definition"))
    faults.append(
        Fault("uri: a number", on("definition", reply([{"uri": 5, "range": _SPAN}])), GARBAGE, "definition")
    )
    return faults


def _values() -> list[Fault]:
    deep: dict[str, Any] = {"name": "x", "kind": 5, "range": _SPAN, "selectionRange": _SPAN}
    for _ in range(200):
        deep = {"name": "x", "kind": 5, "range": _SPAN, "selectionRange": _SPAN, "children": [deep]}
    bidi = reply({"contents": "a\u202eb\u0007c\u2066d"})
    offsets = [[9, 2], [-1, 3], [0, 10_000], [1], [], [1, 2, 3]]
    signature = {"signatures": [{"label": "f(x)", "parameters": [{"label": o} for o in offsets]}]}
    return [
        Fault("value: hover with hidden characters", on("hover", bidi), OK, check=_is_clean),
        Fault("value: hover of three megabytes", on("hover", reply({"contents": "x" * 1_500_000})), OK,
              check=lambda hover: len(hover.text) <= 20_000),
        Fault("value: hover without contents", on("hover", reply({})), GARBAGE),
        Fault("value: hover of many kinds", on("hover", reply({"contents": ["a", {"language": "py", "value": "b"}]})),
              OK, check=lambda hover: "```py" in hover.text),
        Fault("value: hover range beyond the file", on("hover", reply({"contents": "a", "range": _FAR})), OK),
        Fault("value: hover range of negative numbers", on("hover", reply({"contents": "a", "range": _NEGATIVE})),
              GARBAGE),
        Fault("value: outline two hundred deep", on("document_symbols", reply([deep])), OK, "document_symbols",
              check=lambda value: _depth(value) <= 32),
        Fault("value: outline without ranges", on("document_symbols", reply([{"name": "x", "kind": 5}])), GARBAGE,
              "document_symbols"),
        Fault("value: outline with an unknown kind", on("document_symbols", reply([deep | {"kind": 999}])), OK,
              "document_symbols", check=lambda value: value[0].kind == "variable"),
        Fault("value: impossible parameter offsets", on("signature_help", reply(signature)), OK, "signature_help",
              check=lambda help_: len(help_.signatures[0].parameters) == len(offsets)),
        Fault("value: active signature that is not there",
              on("signature_help", reply({"signatures": [{"label": "f"}], "activeSignature": 7, "activeParameter": -2})),
              OK, "signature_help", check=lambda help_: help_.active_signature is None),
    ]  # fmt: skip


def _more_values() -> list[Fault]:
    return [
        Fault("value: tokens not in fives", on("semantic_tokens", reply({"data": [1, 2, 3]})), GARBAGE,
              "semantic_tokens"),
        Fault("value: tokens below zero", on("semantic_tokens", reply({"data": [0, -5, 1, 0, 0]})), GARBAGE,
              "semantic_tokens"),
        Fault("value: token type beyond the legend", on("semantic_tokens", reply({"data": [0, 0, 1, 99, 1 << 40]})), OK,
              "semantic_tokens", check=lambda value: value[0].type == ""),
        Fault("value: tokens beyond the file", on("semantic_tokens", reply({"data": [9999, 0, 1, 0, 0]})), OK,
              "semantic_tokens"),
        Fault("value: edit outside the roots", _edit("file:///etc/passwd"), OK, "code_actions",
              check=lambda value: value[0].edits == ()),
        Fault("value: edit that deletes a file", _file_operation(), OK, "code_actions",
              check=lambda value: value[0].edits == ()),
        Fault("value: a code action without title", on("code_actions", reply([{"kind": "quickfix"}])), GARBAGE,
              "code_actions"),
        Fault("value: completion of fifty thousand", on("completion", {"do": "repeat", "element": {"label": "x"},
              "times": 50_000}), OK, "completion", check=lambda value: len(value) <= 1_000),
        Fault("value: completion kind unknown", on("completion", reply([{"label": "x", "kind": -3}])), OK, "completion",
              check=lambda value: value[0].kind == ""),
        Fault("value: hint label is null", on("inlay_hints", reply([{"position": _SPAN["start"], "label": None}])),
              GARBAGE, "inlay_hints"),
        Fault("value: item with a foreign URI", _item("http://x/y"), OK, "prepare_calls", check=_nothing),
        Fault("value: item without ranges", on("prepare_calls", reply([{"name": "a", "kind": 1, "uri": "{root}/main.py"}])),
              GARBAGE, "prepare_calls"),
        Fault("value: caller without an item", on("incoming_calls", reply([{"fromRanges": []}])), GARBAGE,
              "incoming_calls"),
        Fault("value: report of an unknown kind", on("diagnostics", reply({"kind": "strange"})), GARBAGE, "diagnostics"),
        Fault("value: symbol without a place", on("workspace_symbols", reply([{"name": "a", "kind": 1}])), GARBAGE,
              "workspace_symbols"),
        Fault("value: symbol without a range",
              on("workspace_symbols", reply([{"name": "a", "kind": 1, "location": {"uri": "{root}/main.py"}}])), OK,
              "workspace_symbols", check=_nothing),
        Fault("value: symbol of the standard library", _symbol("file:///usr/lib/x.py"), OK, "workspace_symbols",
              check=_nothing),
        Fault("value: symbol name with hidden characters", _symbol("{root}/main.py", "al\u202epha\x1b[31m"), OK,
              "workspace_symbols", check=lambda value: "\x1b" not in value[0].name and "\u202e" not in value[0].name),
    ]  # fmt: skip


def _edit(uri: str) -> dict[str, Any]:
    changes = {uri: [{"range": _SPAN, "newText": "x"}]}
    return on("code_actions", reply([{"title": "fix", "edit": {"changes": changes}}]))


def _file_operation() -> dict[str, Any]:
    operation = {"kind": "delete", "uri": "{root}/main.py"}
    return on("code_actions", reply([{"title": "fix", "edit": {"documentChanges": [operation]}}]))


def _item(uri: str) -> dict[str, Any]:
    item = {"name": "a", "kind": 12, "uri": uri, "range": _SPAN, "selectionRange": _SPAN}
    return on("prepare_calls", reply([item]))


def _symbol(uri: str, name: str = "alpha") -> dict[str, Any]:
    return on("workspace_symbols", reply([{"name": name, "kind": 12, "location": {"uri": uri, "range": _SPAN}}]))


def _nothing(value: Any) -> bool:
    return value == ()


def _external(value: Any) -> bool:
    return len(value) == 1 and value[0].in_root is None and value[0].path.startswith("/")


def _not_backwards(value: Any) -> bool:
    return value[0].range.start <= value[0].range.end


def _is_clean(hover: Any) -> bool:
    return not any(char in hover.text for char in "\u202e\u0007\u2066")


def _depth(symbols: Any) -> int:
    return 1 + max((_depth(symbol.children) for symbol in symbols), default=0) if symbols else 0
