"""Faults of the wire: headers, lengths, JSON, ids, versions, pieces."""

from __future__ import annotations

from lsp_faults.fault import FAR_S, GARBAGE, GONE, NEAR_S, OK, TIMEOUT, Fault, frame, on, raw

_GOOD = '{"jsonrpc":"2.0","id":{id},"result":{"contents":"about alpha"}}'
_NOTHING = {"do": "nothing"}

# What comes back instead of the answer to a hover; the request must fail at once and say garbage.
_BROKEN = {
    "no header": raw(_GOOD),
    "misspelled header": raw("Content-Lenght: 70\r\n\r\n" + _GOOD),
    "length is a word": raw("Content-Length: many\r\n\r\n" + _GOOD),
    "length is negative": raw("Content-Length: -5\r\n\r\n" + _GOOD),
    "length is empty": raw("Content-Length: \r\n\r\n" + _GOOD),
    "length is hexadecimal": raw("Content-Length: 0x40\r\n\r\n" + _GOOD),
    "length is a fraction": raw("Content-Length: 62.5\r\n\r\n" + _GOOD),
    "two different lengths": frame(_GOOD, header="Content-Length: 5\r\nContent-Length: {n}\r\n\r\n"),
    "header of another type only": raw("Content-Type: application/json\r\n\r\n" + _GOOD),
    "length too short": frame(_GOOD, off=-10),
    "length too short by one": frame(_GOOD, off=-1),
    "length too long": frame(_GOOD, off=40),
    "length too long by one": frame(_GOOD, off=1),
    "length zero": raw("Content-Length: 0\r\n\r\n"),
    "over the size limit": raw('Content-Length: 900000000\r\n\r\n{"jsonrpc":"2.0","id":{id},"result":'),
    "length beyond any number": raw("Content-Length: 99999999999999999999\r\n\r\n" + _GOOD),
    "binary junk": {"do": "raw", "hex": "00ff00fe7b7d00c3282a0d0a"},
    "truncated JSON": frame('{"jsonrpc":"2.0","id":{id},"result":{"contents":'),
    "JSON with a trailing comma": frame('{"jsonrpc":"2.0","id":{id},"result":{},}'),
    "single quotes": frame("{'jsonrpc':'2.0','id':{id},'result':null}"),
    "two values in one body": frame(_GOOD + _GOOD),
    "a bare number": frame("42"),
    "a bare null": frame("null"),
    "a bare string": frame('"hello"'),
    "a batch": frame("[" + _GOOD + "]"),
    "an empty object": frame("{}"),
    "an empty array": frame("[]"),
    "not a number": frame('{"jsonrpc":"2.0","id":{id},"result":NaN}'),
    "invalid UTF-8 in a string": frame('{"jsonrpc":"2.0","id":{id},"result":{"contents":"\udcff\udcfe"}}'),
    "byte order mark": frame("\ufeff" + _GOOD),
    "UTF-16 body": {"do": "raw", "hex": "436f6e74656e742d4c656e6774683a20340d0a0d0a7b007d00"},
    "control character in a string": frame('{"jsonrpc":"2.0","id":{id},"result":{"contents":"a\x01b"}}'),
    "lone surrogate escape broken off": frame('{"jsonrpc":"2.0","id":{id},"result":{"contents":"\\ud83"}}'),
    "version missing": frame('{"id":{id},"result":null}'),
    "version one": frame('{"jsonrpc":"1.0","id":{id},"result":null}'),
    "version is a number": frame('{"jsonrpc":2.0,"id":{id},"result":null}'),
    "id is text": frame('{"jsonrpc":"2.0","id":"{id}","result":null}'),
    "id is a fraction": frame('{"jsonrpc":"2.0","id":{id}.0,"result":null}'),
    "id is null": frame('{"jsonrpc":"2.0","id":null,"result":null}'),
    "id is a list": frame('{"jsonrpc":"2.0","id":[{id}],"result":null}'),
    "id is missing": frame('{"jsonrpc":"2.0","result":null}'),
    "id was never asked": frame('{"jsonrpc":"2.0","id":987654,"result":null}'),
    "id is negative": frame('{"jsonrpc":"2.0","id":-1,"result":null}'),
    "id is enormous": frame('{"jsonrpc":"2.0","id":99999999999999999999999,"result":null}'),
    "neither result nor error": frame('{"jsonrpc":"2.0","id":{id}}'),
    "error is text": frame('{"jsonrpc":"2.0","id":{id},"error":"bad"}'),
    "error without a code": frame('{"jsonrpc":"2.0","id":{id},"error":{"message":"bad"}}'),
    "error code is text": frame('{"jsonrpc":"2.0","id":{id},"error":{"code":"x","message":"bad"}}'),
    "error is a list": frame('{"jsonrpc":"2.0","id":{id},"error":[]}'),
    "method is a number": frame('{"jsonrpc":"2.0","id":{id},"method":5}'),
    "nested arrays without end": {"do": "nested", "open": "[", "close": "]", "depth": 100_000},
    "nested objects without end": {"do": "nested", "open": '{"a":', "close": "}", "depth": 100_000},
    "header that never ends": {"do": "raw", "text": "Content-Length: 5\r\n" + "X-Pad: {\r\n" * 3000},
}

# Bent but harmless: the answer must come through.
_BENT = {
    "lower-case header": frame(_GOOD, header="content-length: {n}\r\n\r\n"),
    "upper-case header": frame(_GOOD, header="CONTENT-LENGTH: {n}\r\n\r\n"),
    "bare line feeds in the header": frame(_GOOD, header="Content-Length: {n}\n\n"),
    "no space in the header": frame(_GOOD, header="Content-Length:{n}\r\n\r\n"),
    "spaces around the length": frame(_GOOD, header="Content-Length:   {n}  \r\n\r\n"),
    "content type first": frame(
        _GOOD, header="Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: {n}\r\n\r\n"
    ),
    "content type after": frame(_GOOD, header="Content-Length: {n}\r\nContent-Type: text/plain\r\n\r\n"),
    "the length twice, alike": frame(_GOOD, header="Content-Length: {n}\r\nContent-Length: {n}\r\n\r\n"),
    "banner before the header": frame(_GOOD, header="Starting up...\nContent-Length: {n}\r\n\r\n"),
    "blank lines before the header": frame(_GOOD, header="\r\n\r\nContent-Length: {n}\r\n\r\n"),
    "white space around the body": frame("  \n" + _GOOD + " \n "),
    "one byte at a time": {"do": "bytewise", "body": _GOOD},
    "null error beside the result": frame(
        '{"jsonrpc":"2.0","id":{id},"error":null,"result":{"contents":"about alpha"}}'
    ),
    "unknown members": frame('{"jsonrpc":"2.0","id":{id},"x":[1],"result":{"contents":"about alpha","y":{}}}'),
    "member given twice": frame('{"jsonrpc":"2.0","id":{id},"result":null,"result":{"contents":"about alpha"}}'),
}


def wire_faults() -> list[Fault]:
    faults = [Fault(f"wire: {name}", on("hover", action), GARBAGE) for name, action in _BROKEN.items()]
    faults += [
        Fault(f"bent: {name}", on("hover", action), OK, check=lambda hover: hover.text == "about alpha")
        for name, action in _BENT.items()
    ]
    good = frame(_GOOD)
    later = '{"jsonrpc":"2.0","id":1,"result":null}'
    faults += [
        Fault("wire: answer given twice", on("hover", good, good), OK),
        Fault("wire: late answer to an old request first", on("hover", frame(later), good), OK),
        Fault("wire: nothing at all", on("hover", _NOTHING), TIMEOUT, deadline_s=NEAR_S),
        Fault("wire: stops in the header", on("hover", raw("Content-Len")), TIMEOUT, deadline_s=NEAR_S),
        Fault(
            "wire: stops in the body",
            on("hover", raw('Content-Length: 90\r\n\r\n{"jsonrpc":"2.0",')),
            TIMEOUT,
            deadline_s=NEAR_S,
        ),
        Fault("wire: output closed", on("hover", {"do": "close", "fd": 1}, {"do": "hang"}), GONE),
        Fault("wire: garbage without end", on("hover", {"do": "raw", "text": "{}}{" * 500_000}), GARBAGE),
        Fault(
            "wire: garbage, then the next answer is good",
            {"on": {"textDocument/hover": [[raw("{\x00}{")], [good]]}},
            GARBAGE,
            deadline_s=FAR_S,
        ),
    ]
    return faults
