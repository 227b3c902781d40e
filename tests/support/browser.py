"""A real headless Chromium, driven over the WebDriver protocol with the standard library."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
DEADLINE_S = 20
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"enter": "\ue007", "escape": "\ue00c", "down": "\ue015", "up": "\ue013", "tab": "\ue004"}
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)


def browser_is_there() -> bool:
    return bool(shutil.which("chromium") and shutil.which("chromedriver"))


class Browser:
    """One window."""

    def __init__(self, session_url: str) -> None:
        self._url = session_url

    def command(self, method: str, path: str, body: Any = None) -> Any:
        return _exchange(method, self._url + path, body)

    def open(self, url: str) -> None:
        self.command("POST", "/url", {"url": url})

    def run(self, script: str, *args: object) -> Any:
        """The value that a script returns in the page."""
        return self.command("POST", "/execute/sync", {"script": script, "args": args})

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def texts(self, selector: str) -> list[str]:
        return self.run("return [...document.querySelectorAll(arguments[0])].map(n => n.textContent)", selector)

    def type(self, selector: str, keys: str) -> None:
        element = self.command("POST", "/element", {"using": "css selector", "value": selector})[_ELEMENT]
        self.command("POST", f"/element/{element}/value", {"text": keys})

    def press(self, *keys: str) -> None:
        """Keys sent to whatever has the focus."""
        strokes: list[dict[str, str]] = []
        for key in keys:
            value = KEYS.get(key, key)
            strokes += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.command("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": strokes}]})

    def resize(self, width: int, height: int, *, scheme: str = "light") -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.devtools("Emulation.setEmulatedMedia", {"features": features})

    def devtools(self, command: str, parameters: dict[str, Any]) -> Any:
        return self.command("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def logged(self) -> list[str]:
        """What the console complained about."""
        return [entry["message"] for entry in self.command("POST", "/se/log", {"type": "browser"})]

    def screenshot(self) -> bytes:
        return base64.b64decode(self.command("GET", "/screenshot"))

    def until(self, look: Callable[[], T], wanted: Callable[[T], bool] = bool) -> T:
        """Look again until it is as wanted; bounded by a deadline."""
        end = time.monotonic() + DEADLINE_S
        while True:
            found = look()
            if wanted(found):
                return found
            assert time.monotonic() < end, f"still {found!r}; console: {self.logged()}"
            time.sleep(0.02)


@contextmanager
def browser() -> Generator[Browser, None, None]:
    """Start a driver and a browser; both end with the block."""
    program = shutil.which("chromedriver")
    assert program is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        driver = subprocess.Popen([program, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            base = f"http://127.0.0.1:{_port(driver)}"
            options = {"binary": shutil.which("chromium"), "args": [*_FLAGS, f"--user-data-dir={profile}"]}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            made = _exchange("POST", f"{base}/session", {"capabilities": {"alwaysMatch": wanted}})
            url = f"{base}/session/{made['sessionId']}"
            try:
                yield Browser(url)
            finally:
                _exchange("DELETE", url, None)
        finally:
            driver.terminate()
            driver.wait(DEADLINE_S)
            assert driver.stdout is not None
            driver.stdout.close()


def _port(driver: subprocess.Popen[str]) -> int:
    assert driver.stdout is not None
    for line in driver.stdout:
        match = re.search(r"started successfully on port (\d+)", line)
        if match:
            return int(match[1])
    raise AssertionError("the driver did not start")


def _exchange(method: str, url: str, body: Any) -> Any:
    data = json.dumps(body or {}).encode() if method == "POST" else None
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=DEADLINE_S * 3) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise AssertionError(error.read().decode()[:500]) from None
