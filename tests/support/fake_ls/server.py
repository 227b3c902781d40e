#!/usr/bin/env python3
"""A language server that keeps the protocol, except where its script tells it to break it.

The script is JSON in the file that the first argument names: `capabilities` (laid over the healthy ones), `start`,
`initialized` and `on.METHOD` (lists of actions in place of the healthy behaviour), `journal` (a file that gets every
message received). An action is a table with `do`; see `ACTIONS`. `{id}` in a text stands for the id of the request
being answered, `{root}` for the URI of the root.
"""

import json
import os
import signal
import subprocess
import sys
import time

HEALTHY = {
    "textDocumentSync": {"openClose": True, "change": 1, "save": True},
    "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
    "workspaceSymbolProvider": True,
    "definitionProvider": True,
    "declarationProvider": True,
    "typeDefinitionProvider": True,
    "implementationProvider": True,
    "referencesProvider": True,
    "callHierarchyProvider": True,
    "typeHierarchyProvider": True,
    "hoverProvider": True,
    "documentHighlightProvider": True,
    "documentSymbolProvider": True,
    "completionProvider": {},
    "signatureHelpProvider": {},
    "codeActionProvider": True,
    "inlayHintProvider": True,
    "semanticTokensProvider": {"full": True, "legend": {"tokenTypes": ["function"], "tokenModifiers": ["static"]}},
}
NAME = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}


class Server:
    def __init__(self, script):
        self.script = script
        self.out = sys.stdout.buffer
        self.root = ""
        self.id = None
        self.journal = script.get("journal")
        self.asked = {}
        self.next_id = 1000

    def run(self):
        self.act(self.script.get("start", []))
        while True:
            message = self.read()
            if message is None:
                return
            if self.journal:
                with open(self.journal, "a") as file:
                    file.write(json.dumps(message) + "\n")
            self.handle(message)

    def read(self):
        length = 0
        while True:
            line = sys.stdin.buffer.readline()
            if not line:
                return None
            if line in (b"\r\n", b"\n"):
                break
            if line.lower().startswith(b"content-length"):
                length = int(line.split(b":")[1])
        return json.loads(sys.stdin.buffer.read(length))

    def handle(self, message):
        method = message.get("method")
        self.id = message.get("id")
        if method is None:
            return
        if method == "initialize":
            self.root = message["params"]["rootUri"]
        self.asked[method] = self.asked.get(method, 0) + 1
        script = self.script.get("on", {}).get(method)
        if script is not None:
            if script and isinstance(script[0], list):
                script = script[min(self.asked[method], len(script)) - 1]
            self.act(script)
        elif method == "initialized":
            self.act(self.script.get("initialized", []))
        elif method == "exit":
            sys.exit(0)
        elif self.id is not None:
            self.reply(healthy_answer(method, message.get("params") or {}, self.root, self.capabilities()))

    def capabilities(self):
        merged = dict(HEALTHY)
        for key, value in self.script.get("capabilities", {}).items():
            if value == "absent":
                merged.pop(key, None)
            else:
                merged[key] = value
        return merged

    def reply(self, result):
        self.send({"jsonrpc": "2.0", "id": self.id, "result": result})

    def send(self, message):
        body = json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def write(self, data):
        self.out.write(data)
        self.out.flush()

    def act(self, actions):
        for action in actions:
            ACTIONS[action["do"]](self, action)

    def fill(self, text):
        text = text.replace("{id}", str(self.id)).replace("{root}", self.root)
        return text.encode("utf-8", "surrogateescape")


def healthy_answer(method, params, root, capabilities):
    uri = (params.get("textDocument") or {}).get("uri", root + "/main.py")
    item = {"name": "alpha", "kind": 12, "uri": root + "/main.py", "range": NAME, "selectionRange": NAME}
    answers = {
        "initialize": {"capabilities": capabilities, "serverInfo": {"name": "fake", "version": "1"}},
        "shutdown": None,
        "workspace/symbol": [{"name": "alpha", "kind": 12, "location": {"uri": root + "/main.py", "range": NAME}}],
        "textDocument/references": [{"uri": uri, "range": NAME}],
        "textDocument/prepareCallHierarchy": [item],
        "callHierarchy/incomingCalls": [{"from": item, "fromRanges": [NAME]}],
        "callHierarchy/outgoingCalls": [{"to": item, "fromRanges": [NAME]}],
        "textDocument/prepareTypeHierarchy": [item],
        "typeHierarchy/supertypes": [item],
        "typeHierarchy/subtypes": [item],
        "textDocument/hover": {"contents": {"kind": "markdown", "value": "about alpha"}},
        "textDocument/documentHighlight": [{"range": NAME, "kind": 2}],
        "textDocument/documentSymbol": [{"name": "alpha", "kind": 12, "range": NAME, "selectionRange": NAME}],
        "textDocument/completion": {"isIncomplete": False, "items": [{"label": "alpha", "kind": 3}]},
        "textDocument/signatureHelp": {
            "signatures": [{"label": "alpha(x)", "parameters": [{"label": [6, 7]}]}],
            "activeSignature": 0,
            "activeParameter": 0,
        },
        "textDocument/codeAction": [
            {"title": "fix", "kind": "quickfix", "edit": {"changes": {uri: [{"range": NAME, "newText": "beta"}]}}}
        ],
        "textDocument/inlayHint": [{"position": NAME["start"], "label": "int", "kind": 1}],
        "textDocument/semanticTokens/full": {"data": [0, 4, 5, 0, 1]},
        "textDocument/diagnostic": {"kind": "full", "items": []},
    }
    place = {"uri": uri, "range": NAME}
    return answers.get(method, place)


def do_raw(server, action):
    server.write(server.fill(action["text"]) if "text" in action else bytes.fromhex(action["hex"]))


def do_frame(server, action):
    body = server.fill(action["body"])
    length = len(body) + action.get("off", 0)
    header = action.get("header", "Content-Length: {n}\r\n\r\n").replace("{n}", str(length))
    server.write(server.fill(header) + body)


def do_bytewise(server, action):
    body = server.fill(action["body"])
    for byte in b"Content-Length: %d\r\n\r\n" % len(body) + body:
        server.write(bytes([byte]))


def do_reply(server, action):
    server.send({"jsonrpc": "2.0", "id": server.id, "result": expand(server, action.get("result"))})


def expand(server, value):
    return json.loads(json.dumps(value).replace("{root}", server.root).replace("{id}", str(server.id)))


def do_nested(server, action):
    body = b'{"jsonrpc":"2.0","id":%d,"result":' % server.id
    body += action["open"].encode() * action["depth"] + b"1" + action["close"].encode() * action["depth"] + b"}"
    server.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)


def do_repeat(server, action):
    """A long list made of one element."""
    result = [expand(server, action["element"])] * action["times"]
    server.send({"jsonrpc": "2.0", "id": server.id, "result": result})


def do_error(server, action):
    error = {"code": action["code"], "message": action.get("message", "no")}
    server.send({"jsonrpc": "2.0", "id": server.id, "error": error})


def do_notify(server, action):
    message = {"jsonrpc": "2.0", "method": action["method"], "params": expand(server, action.get("params"))}
    body = json.dumps(message).encode()
    frame = b"Content-Length: %d\r\n\r\n" % len(body) + body
    for _ in range(action.get("times", 1)):
        server.write(frame)


def do_request(server, action):
    for _ in range(action.get("times", 1)):
        server.next_id += 1
        message = {"jsonrpc": "2.0", "id": action.get("id", server.next_id), "method": action["method"]}
        server.send(message | {"params": expand(server, action.get("params"))})


def do_stderr(server, action):
    text = action["text"].encode() * action.get("times", 1)
    os.write(2, text) if len(text) < 4096 else sys.stderr.buffer.write(text)
    sys.stderr.buffer.flush()


def do_child(server, action):
    """A child that outlives its parent unless somebody ends it; with `session` it leaves the group, too."""
    code = "import time; time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", code], start_new_session=action.get("session", False))
    if "pid_file" in action:
        with open(action["pid_file"], "w") as file:
            file.write(str(child.pid))


def do_exit(server, action):
    os._exit(action.get("code", 1))


def do_kill(server, action):
    os.kill(os.getpid(), action.get("signal", signal.SIGKILL))


def do_hang(server, action):
    while True:
        time.sleep(60)


def do_sleep(server, action):
    time.sleep(action["s"])


def do_close(server, action):
    os.close(action["fd"])


def do_deaf(server, action):
    """Ignore every signal that can be ignored."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def do_nothing(server, action):
    pass


def do_healthy(server, action):
    server.reply(healthy_answer(action["method"], {}, server.root, server.capabilities()))


def do_fill_memory(server, action):
    server.ballast = bytearray(action["bytes"])


ACTIONS = {
    name[3:]: function for name, function in list(globals().items()) if name.startswith("do_") and callable(function)
}


if __name__ == "__main__":
    with open(sys.argv[1]) as given:
        spec = json.load(given)
    Server(spec).run()
