"""The conformance suite over HTTP, in two versions of the protocol, against the fixtures of `fixture_server`.

What the suite lacks (a change that reaches a subscriber, a completed template, a cancelled call) is asked through the
TypeScript client library in `sessions.cjs`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from gate_kit import CACHE, GATES, Bench, need_node, new_bench, serving

HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
BOTH = (HANDSHAKE, MODERN)
# Left out are the scenarios about what Sightline does not have: prompts, sampling, elicitation, tasks, images, sound.
SCENARIOS: dict[str, tuple[str, ...]] = {
    "server-initialize": (HANDSHAKE,),
    "server-session-lifecycle": (HANDSHAKE,),
    "server-stateless": (MODERN,),
    "ping": (HANDSHAKE,),
    "logging-set-level": (HANDSHAKE,),
    "completion-complete": BOTH,
    "tools-list": BOTH,
    "tools-call-simple-text": BOTH,
    "tools-call-error": BOTH,
    "tools-call-with-progress": BOTH,
    "tools-call-with-logging": (HANDSHAKE,),
    "resources-list": BOTH,
    "resources-read-text": BOTH,
    "resources-templates-read": BOTH,
    "resources-subscribe": (HANDSHAKE,),
    "resources-unsubscribe": (HANDSHAKE,),
    "sep-2164-resource-not-found": (MODERN,),
    "caching": (MODERN,),
    "http-header-validation": (MODERN,),
    "server-sse-multiple-streams": BOTH,
    "server-sse-polling": (HANDSHAKE,),
    "dns-rebinding-protection": BOTH,
}
# These need a server that knows no workspace.
ROOTLESS = ("input-required-result-basic-list-roots",)
# Checks of what Sightline does not do, with the reason.
NOT_OURS = {
    "sep-2575-server-rejects-undeclared-capability": "no tool asks for sampling",
    "sep-2575-missing-capability-http-400": "no tool asks for sampling",
    "sep-2549-prompts-list-caching-hints": "there are no prompts",
}


def conformance(bench: Bench) -> str:
    """The suite's scenarios for what we serve, then sessions through the TypeScript library."""
    need_node()
    # Workspaces and data of its own: another process on the same index would only read it.
    own = new_bench(bench.folder / "conformance")
    rootless = [sys.executable, str(GATES / "fixture_server.py"), "serve-mcp", "--toolset", "all"]
    command = [*rootless, "--workspace", str(own.workspace)]
    runs = [(scenario, version) for scenario, versions in SCENARIOS.items() for version in versions]
    with serving(own, command) as url:
        counts = [run_scenario(own, url, scenario, version) for scenario, version in runs]
        run_sessions(own, url)
    with serving(own, rootless, cwd=Path("/")) as url:
        counts += [run_scenario(own, url, scenario, MODERN) for scenario in ROOTLESS]
    over = run_sessions(new_bench(bench.folder / "conformance-stdio"), *rootless)
    passed, warned = (sum(column) for column in zip(*counts, strict=True))
    return (
        f"{len(SCENARIOS) + len(ROOTLESS)} scenarios, {passed} checks passed, {warned} warnings;"
        f" TypeScript library over HTTP and stdio: {over}"
    )


def run_sessions(bench: Bench, *target: str) -> str:
    """The sessions of the TypeScript library with a URL or a command; says what was tried."""
    return bench.run(["node", str(GATES / "sessions.cjs"), str(CACHE), str(bench.workspace), *target]).strip()


def run_scenario(bench: Bench, url: str, scenario: str, version: str) -> tuple[int, int]:
    """The numbers of passed checks and of warnings; raises for one that failed and is ours."""
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        command = ["conformance", "server", "--url", url, "--scenario", scenario, "--spec-version", version]
        # It exits with 1 for any failed check; the checks themselves tell whether that one is ours.
        bench.run(["sh", "-c", '"$@" || test $? = 1', "sh", *command, "--output-dir", folder])
        (file,) = Path(folder).rglob("checks.json")
        checks = json.loads(file.read_text("utf-8"))
    failed = [check for check in checks if check["status"] == "FAILURE" and check["id"] not in NOT_OURS]
    assert not failed, f"{scenario} ({version}): {json.dumps(failed)[:1500]}"
    states = [check["status"] for check in checks]
    assert "SUCCESS" in states or scenario == "server-sse-polling", f"{scenario} ({version}) checked nothing"
    return states.count("SUCCESS"), states.count("WARNING")
