"""Faults of the life: starts, deaths, hangs, floods, lies about capabilities, strange requests."""

from __future__ import annotations

from typing import Any

from lsp_faults.fault import FAR_S, GARBAGE, GONE, METHODS, NEAR_S, OK, TIMEOUT, UNSUPPORTED, Fault, on, raw, reply

_HANG = {"do": "hang"}
_EXIT = {"do": "exit", "code": 3}
_KILL = {"do": "kill"}
_HEALTHY_HOVER = {"do": "healthy", "method": "textDocument/hover"}
_PROVIDERS = {
    "hover": "hoverProvider",
    "definition": "definitionProvider",
    "references": "referencesProvider",
    "prepare_calls": "callHierarchyProvider",
    "prepare_types": "typeHierarchyProvider",
    "completion": "completionProvider",
    "document_symbols": "documentSymbolProvider",
    "semantic_tokens": "semanticTokensProvider",
    "workspace_symbols": "workspaceSymbolProvider",
}


def life_faults() -> list[Fault]:
    return [*_deaths(), *_hangs(), *_handshakes(), *_floods(), *_offers(), *_requests(), *_diagnostics()]


def _deaths() -> list[Fault]:
    faults = [
        Fault("death: at the start", {"start": [_EXIT]}, GONE),
        Fault("death: at the start by a signal", {"start": [_KILL]}, GONE),
        Fault("death: at the start, quietly with zero", {"start": [{"do": "exit", "code": 0}]}, GONE),
        Fault("death: during the handshake", on("initialize", _EXIT), GONE),
        Fault("death: during the handshake by a signal", on("initialize", _KILL), GONE),
        Fault("death: after the handshake", on("initialized", _EXIT), GONE),
        Fault("death: when a document is opened", on("textDocument/didOpen", _EXIT), GONE),
        Fault("death: in the middle of an answer", on("hover", raw("Content-Length: 500\r\n\r\n{"), _EXIT), GARBAGE),
        Fault("death: with a child on the pipe", on("hover", {"do": "child"}, _EXIT), GONE),
        Fault("death: with a child in a session of its own", on("hover", {"do": "child", "session": True}, _EXIT), GONE),
        Fault("death: after much on standard error", on("hover", {"do": "stderr", "text": "why\n", "times": 9000}, _EXIT),
              GONE),
        Fault("death: right after the answer", on("hover", _HEALTHY_HOVER, _EXIT), OK),
    ]  # fmt: skip
    for ask in METHODS:
        faults.append(Fault(f"death: asked for {ask}", on(ask, _EXIT), GONE, ask))
    return faults


def _hangs() -> list[Fault]:
    faults = [
        Fault("hang: at the start", {"start": [_HANG]}, TIMEOUT, deadline_s=NEAR_S, source="starting"),
        Fault("hang: in the handshake", on("initialize", _HANG), TIMEOUT, deadline_s=NEAR_S, source="starting"),
        Fault("hang: after the handshake", on("initialized", _HANG), TIMEOUT, deadline_s=NEAR_S),
        Fault("hang: deaf to signals", {"start": [{"do": "deaf"}], "on": {"textDocument/hover": [_HANG]}}, TIMEOUT,
              deadline_s=NEAR_S),
        Fault("hang: with a child", on("hover", {"do": "child"}, _HANG), TIMEOUT, deadline_s=NEAR_S),
        Fault("hang: input closed", on("hover", {"do": "close", "fd": 0}, _HANG), TIMEOUT, deadline_s=NEAR_S),
    ]  # fmt: skip
    for ask in ("definition", "references", "document_symbols", "completion", "workspace_symbols", "diagnostics"):
        faults.append(Fault(f"hang: asked for {ask}", on(ask, _HANG), TIMEOUT, ask, deadline_s=NEAR_S))
    shutdown = {"on": {"shutdown": [_HANG]}}
    faults += [
        Fault("stop: shutdown is ignored", shutdown, OK),
        Fault("stop: exit is ignored", {"on": {"exit": [_HANG]}}, OK),
        Fault("stop: shutdown is refused", {"on": {"shutdown": [{"do": "error", "code": -32600}]}}, OK),
        Fault("stop: shutdown is answered with garbage", {"on": {"shutdown": [raw("{{{")]}}, OK),
        Fault("stop: deaf, ignoring and with a child", {
            "start": [{"do": "deaf"}, {"do": "child", "session": True}], "on": {"shutdown": [{"do": "nothing"}]}
        }, OK),
        Fault("stop: dies on shutdown", {"on": {"shutdown": [_EXIT]}}, OK),
    ]  # fmt: skip
    return faults


def _handshakes() -> list[Fault]:
    def initialize(result: Any) -> dict[str, Any]:
        return on("initialize", reply(result))

    wrong = {
        "null": None,
        "a list": [],
        "a string": "hello",
        "an empty object": {},
        "capabilities null": {"capabilities": None},
        "capabilities a list": {"capabilities": []},
        "capabilities a string": {"capabilities": "all"},
        "server info a string": {"capabilities": {}, "serverInfo": "me"},
        "encoding not offered": {"capabilities": {"positionEncoding": "utf-7"}},
        "encoding a number": {"capabilities": {"positionEncoding": 16}},
        "encoding a list": {"capabilities": {"positionEncoding": ["utf-8"]}},
        "encoding in capitals": {"capabilities": {"positionEncoding": "UTF-8"}},
    }
    faults = [Fault(f"handshake: {name}", initialize(result), GARBAGE) for name, result in wrong.items()]
    faults += [
        Fault("handshake: refused", on("initialize", {"do": "error", "code": -32603}), GARBAGE),
        Fault("handshake: no such method", on("initialize", {"do": "error", "code": -32601}), UNSUPPORTED),
        Fault("handshake: garbage", on("initialize", raw("{]")), GARBAGE),
        Fault("handshake: a banner first", {"start": [raw("Welcome to the server\n")]}, OK),
        Fault("handshake: answered twice", on("initialize", *[{"do": "healthy", "method": "initialize"}] * 2), OK),
        Fault("handshake: half a message first", {"start": [raw('Content-Length: 10\r\n\r\n{"a')]}, GARBAGE),
    ]
    return faults


def _floods() -> list[Fault]:
    def noisy(*actions: Any, **more: Any) -> dict[str, Any]:
        return on("hover", *actions, _HEALTHY_HOVER) | more

    def flood(method: str, params: Any, times: int = 3000) -> dict[str, Any]:
        return {"do": "notify", "method": method, "params": params, "times": times}

    published = {"uri": "{root}/main.py", "diagnostics": [{"range": _span(), "message": "x"}] * 50}
    return [
        Fault("flood: log messages", noisy(flood("window/logMessage", {"type": 3, "message": "x" * 200})), OK),
        Fault("flood: unknown notifications", noisy(flood("x/unknown", {"a": [1, 2, 3]})), OK),
        Fault("flood: notifications of a wrong shape", noisy(flood("$/progress", [1, 2])), OK),
        Fault("flood: notifications without parameters", noisy(flood("textDocument/publishDiagnostics", None)), OK),
        Fault("flood: telemetry", noisy(flood("telemetry/event", {"x": "y" * 500})), OK),
        Fault("flood: diagnostics", noisy(flood("textDocument/publishDiagnostics", published, 500)), OK),
        Fault("flood: standard error", noisy({"do": "stderr", "text": "e" * 1000, "times": 2000}), OK),
        Fault("flood: plain text between messages", noisy(raw("chatter chatter\n" * 50_000)), OK),
        Fault("flood: progress that begins and never ends", _progress_flood(), OK, source="indexing"),
        Fault("flood: requests", noisy({"do": "request", "method": "workspace/configuration",
              "params": {"items": [{"section": "x"}]}, "times": 300}), OK),
        Fault("flood: registrations", noisy({"do": "request", "method": "client/registerCapability", "params": {
              "registrations": [{"id": str(n), "method": "x/y"} for n in range(3000)]}}), OK),
        Fault("flood: memory", noisy({"do": "fill_memory", "bytes": 50_000_000}), OK),
        Fault("flood: an answer over the limit", on("hover", reply({"contents": "x" * 3_000_000})), GARBAGE),
        Fault("flood: a notification over the limit", noisy(flood("window/logMessage",
              {"message": "x" * 3_000_000}, 1)), GARBAGE),
    ]  # fmt: skip


def _progress_flood() -> dict[str, Any]:
    begin = {"token": "t", "value": {"kind": "begin", "title": "loading"}}
    return {
        "initialized": [{"do": "notify", "method": "$/progress", "params": begin}],
        "limits": {"lsp_progress_silence_s": 0.1},
    }


def _offers() -> list[Fault]:
    faults: list[Fault] = []
    for ask, provider in _PROVIDERS.items():
        for value in ("absent", False, None, 0):
            script = {"capabilities": {provider: value}}
            faults.append(Fault(f"offer: {ask} is {value}", script, UNSUPPORTED, ask))
    faults += [
        Fault("offer: provider is text", {"capabilities": {"hoverProvider": "yes"}}, UNSUPPORTED),
        Fault("offer: provider is an empty table", {"capabilities": {"hoverProvider": {}}}, OK),
        Fault("offer: registered later", {
            "capabilities": {"hoverProvider": "absent"},
            "initialized": [{"do": "request", "method": "client/registerCapability", "params": {
                "registrations": [{"id": "h", "method": "textDocument/hover"}]}}],
        }, OK, limits={"lsp_settle_ms": 200}),
        Fault("offer: sync is text", {"capabilities": {"textDocumentSync": "full"}}, OK),
        Fault("offer: sync is none", {"capabilities": {"textDocumentSync": 0}}, OK),
        Fault("offer: sync is a list", {"capabilities": {"textDocumentSync": [1]}}, OK),
        Fault("offer: workspace is text", {"capabilities": {"workspace": "yes"}}, OK),
        Fault("offer: legend is broken", {"capabilities": {"semanticTokensProvider": {"legend": [1]}}}, OK,
              "semantic_tokens", check=lambda value: value[0].type == ""),
        Fault("offer: legend holds numbers", {"capabilities": {"semanticTokensProvider": {"legend": {
              "tokenTypes": [1, 2], "tokenModifiers": None}}}}, OK, "semantic_tokens"),
    ]  # fmt: skip
    return faults


def _requests() -> list[Fault]:
    """Requests of the server to the client, before it answers."""
    asked: dict[str, Any] = {
        "unknown method": {"method": "x/unknown"},
        "id of text": {"method": "workspace/workspaceFolders", "id": "abc"},
        "id null": {"method": "workspace/workspaceFolders", "id": None},
        "id in use by us": {"method": "workspace/workspaceFolders", "id": 2},
        "configuration without items": {"method": "workspace/configuration", "params": {}},
        "configuration with a null item": {"method": "workspace/configuration", "params": {"items": [None]}},
        "configuration of a number": {"method": "workspace/configuration", "params": 5},
        "registration without an id": {"method": "client/registerCapability", "params": {"registrations": [{}]}},
        "registration of nothing": {"method": "client/registerCapability", "params": None},
        "unregistration of the unknown": {
            "method": "client/unregisterCapability",
            "params": {"unregisterations": [{"id": "none", "method": "x"}]},
        },
        "watchers of every wrong shape": {
            "method": "client/registerCapability",
            "params": {"registrations": [{"id": "w", "method": "workspace/didChangeWatchedFiles", "registerOptions": {
                "watchers": [None, 5, {}, {"globPattern": 5}, {"globPattern": "[[[{{{"}, {"globPattern": "*" * 400},
                             {"globPattern": {"baseUri": "http://x", "pattern": "*"}}]}}]},
        },
        "watchers not a list": {
            "method": "client/registerCapability",
            "params": {"registrations": [{"id": "w", "method": "workspace/didChangeWatchedFiles",
                                          "registerOptions": {"watchers": "all"}}]},
        },
        "an edit to apply": {"method": "workspace/applyEdit", "params": {"edit": {"changes": {
            "{root}/main.py": [{"range": _span(), "newText": "EVIL"}]}}}},
        "a document to show": {"method": "window/showDocument", "params": {"uri": "file:///etc/passwd"}},
        "a question to the user": {"method": "window/showMessageRequest", "params": {"type": 1, "message": "?"}},
        "a progress token": {"method": "window/workDoneProgress/create", "params": {"token": 1}},
        "a progress token of no kind": {"method": "window/workDoneProgress/create", "params": {}},
        "a refresh": {"method": "workspace/diagnostic/refresh"},
        "a telemetry request": {"method": "telemetry/event", "params": "x"},
    }  # fmt: skip
    faults = [
        Fault(f"request: {name}", on("hover", {"do": "request"} | request, _HEALTHY_HOVER), OK)
        for name, request in asked.items()
        if name != "id null"
    ]
    null_id = {"do": "request"} | asked["id null"]
    faults.append(Fault("request: id null", on("hover", null_id, _HEALTHY_HOVER), GARBAGE))
    modified = {"do": "error", "code": -32801}
    cancelled = {"do": "error", "code": -32802}
    good = [_HEALTHY_HOVER]
    faults += [
        Fault("retry: content modified once", {"on": {METHODS["hover"]: [[modified], good]}}, OK),
        Fault("retry: cancelled three times", {"on": {METHODS["hover"]: [[cancelled]] * 3 + [good]}}, OK),
        Fault("retry: modified for ever", on("hover", modified), GARBAGE),
        Fault("retry: slow and modified for ever", on("hover", {"do": "sleep", "s": 0.2}, modified), GARBAGE),
    ]
    return faults


def _diagnostics() -> list[Fault]:
    def published(items: Any, uri: str = "{root}/main.py") -> dict[str, Any]:
        params = {"uri": uri, "diagnostics": items}
        return on(
            "textDocument/didOpen", {"do": "notify", "method": "textDocument/publishDiagnostics", "params": params}
        )

    finding = {"range": _span(), "message": "bad", "severity": 2}
    many = [finding] * 3000
    far = {
        "range": {"start": {"line": 99999, "character": 0}, "end": {"line": 99999, "character": 9}},
        "message": "x",
    }
    return [
        Fault("findings: pushed", published([finding]), OK, "diagnostics", check=lambda found: len(found) == 1),
        Fault("findings: three thousand", published(many), OK, "diagnostics", check=lambda found: len(found) == 1000),
        Fault("findings: beyond the file", published([far]), OK, "diagnostics", check=lambda f: f[0].range.start.line == 2),
        Fault("findings: severity unknown", published([finding | {"severity": 99}]), OK, "diagnostics",
              check=lambda found: found[0].severity == "error"),
        Fault("findings: never", {}, OK, "diagnostics", check=lambda found: found == (), deadline_s=FAR_S),
        Fault("findings: of a wrong shape", published([{"message": 5}]), OK, "diagnostics",
              check=lambda found: found == ()),
        Fault("findings: about another file", published([finding], "file:///etc/passwd"), OK, "diagnostics",
              check=lambda found: found == ()),
        Fault("findings: death while waiting", on("textDocument/didOpen", _EXIT), OK, "diagnostics",
              check=lambda found: found == ()),
    ]  # fmt: skip


def _span() -> dict[str, Any]:
    return {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}
