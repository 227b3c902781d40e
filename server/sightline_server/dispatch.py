"""A tool call from raw arguments to the finished body.

**Invariant**: arguments are validated once, every call has a deadline, and this is the one place where an
exception becomes an answer; no traceback leaves it.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio
from pydantic import ValidationError

from sightline_core.cancellation import withdrawn_at_exit
from sightline_core.errors import ErrorCode, SightlineError, nearest_name
from sightline_core.types import Note
from sightline_server.completeness import Facts, ToolKind, decide
from sightline_server.envelope import (
    Metadata,
    cut_list,
    encode,
    error_body,
    source_models,
    to_json,
    warning_models,
)
from sightline_server.tools.base import Answer, AnyTool, Args, Call, ProgressReporter
from sightline_server.workspace_status import standing_of

if TYPE_CHECKING:
    from sightline_server.app import Services
    from sightline_server.sessions.session import Session
    from sightline_server.workspaces import Workspace

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the caller gets: structured content, the same as JSON, and whether it is an error."""

    body: dict[str, Any]
    encoded: bytes
    is_error: bool


class UnknownToolError(SightlineError):
    """The method was called with a tool that this session does not have; a protocol error, not a tool's."""


async def call_tool(
    services: Services,
    session: Session,
    name: str,
    arguments: Mapping[str, Any] | None,
    progress: ProgressReporter | None = None,
) -> Outcome:
    """Run one tool for one session and have it audited; raises only `UnknownToolError`."""
    tool = _find_tool(session, name)
    begun = time.monotonic()
    try:
        outcome = await answer_call(services, session, tool, arguments, progress)
    except BaseException:
        # The caller withdrew; there is no answer, but there was a call.
        services.audit.record(session, name, arguments, {"error": {"code": "cancelled"}}, begun)
        raise
    services.audit.record(session, name, arguments, outcome.body, begun)
    return outcome


async def answer_call(
    services: Services,
    session: Session,
    tool: AnyTool,
    arguments: Mapping[str, Any] | None,
    progress: ProgressReporter | None = None,
) -> Outcome:
    """The answer of one tool; never raises but for cancellation."""
    workspace: Workspace | None = None
    try:
        with _admitted(services, session):
            _check_permission(session, tool)
            args = parse_arguments(tool, arguments)
            workspace = _workspace(services, session, tool, args)
            return await _run(services, session, tool, args, workspace, progress or ProgressReporter())
    except SightlineError as error:
        return _failure(error, workspace)
    except Exception:
        reference = secrets.token_hex(4)
        logger.exception("tool %s failed (reference %s)", tool.name, reference)
        fault = SightlineError(
            ErrorCode.INTERNAL_ERROR,
            f"Sightline failed on this call (reference {reference}).",
            hint="Try again; if it persists, report it with the log of the server.",
        )
        return _failure(fault, workspace)


async def _run(
    services: Services,
    session: Session,
    tool: AnyTool,
    args: Args,
    workspace: Workspace | None,
    progress: ProgressReporter,
) -> Outcome:
    deadline_s = services.config.limits.call_deadline_s
    call = Call(services, session, workspace, anyio.current_time() + deadline_s, progress)
    with anyio.move_on_after(deadline_s), _in_use(workspace), withdrawn_at_exit():
        answer = await tool.run(call, args)
        return finish(tool, answer, workspace, services.config.limits.max_structured_bytes)
    raise SightlineError(
        ErrorCode.DEADLINE_EXCEEDED,
        f"{tool.name} did not finish within {deadline_s:g} s.",
        hint="Narrow the call, or try again when the workspace is less busy.",
    )


def parse_arguments(tool: AnyTool, arguments: Mapping[str, Any] | None) -> Args:
    """The arguments as the tool's type; raises `invalid_input` that names the first fault."""
    try:
        return tool.args.model_validate(arguments or {})
    except ValidationError as error:
        raise _argument_error(tool, error) from None


def finish(tool: AnyTool, answer: Answer[Any], workspace: Workspace | None, max_bytes: int) -> Outcome:
    """An answer with its metadata, within the byte cap."""
    body = to_json(answer.result)
    facts = answer.facts
    body["metadata"] = to_json(build_metadata(tool.kind, facts, workspace))
    encoded = encode(body)
    if len(encoded) <= max_bytes or not tool.list_field:
        return Outcome(body, encoded, is_error=False)
    # Room for the warning that says what was cut.
    reserve = 256
    dropped = cut_list(body, tool.list_field, max_bytes - reserve)
    cut = Note(
        "response_too_large", f"{dropped} entries of `{tool.list_field}` were left out to keep the answer small."
    )
    body["metadata"] = to_json(build_metadata(tool.kind, replace(facts, cuts=(*facts.cuts, cut)), workspace))
    return Outcome(body, encode(body), is_error=False)


def build_metadata(kind: ToolKind, facts: Facts, workspace: Workspace | None) -> Metadata:
    """The metadata of one answer."""
    completeness, warnings = decide(kind, facts)
    if workspace is None:
        return Metadata(
            result_completeness=completeness,
            sources=source_models(facts.sources),
            warnings=warning_models(warnings),
        )
    standing = standing_of(workspace)
    return Metadata(
        workspace=workspace.path,
        ref=standing.ref,
        indexing_status=standing.indexing_status,
        result_completeness=completeness,
        freshness_status=standing.freshness,
        schema_status=standing.schema_status,
        sources=source_models(facts.sources),
        warnings=warning_models(warnings),
    )


def _find_tool(session: Session, name: str) -> AnyTool:
    tool = session.tools.get(name)
    if tool is None:
        near = nearest_name(name, list(session.tools))
        raise UnknownToolError(
            ErrorCode.INVALID_INPUT,
            f"There is no tool '{name[:80]}' in this session.",
            hint=f"Did you mean '{near}'?" if near else "tools/list shows what there is.",
        )
    return tool


def _workspace(services: Services, session: Session, tool: AnyTool, args: Args) -> Workspace | None:
    if args.workspace is None and not tool.needs_workspace:
        return session.default_workspace
    workspace = services.workspaces.resolve(args.workspace, session.default_workspace, session.discovery)
    if not session.shared:
        session.used.add(workspace.path)
    return workspace


def _failure(error: SightlineError, workspace: Workspace | None) -> Outcome:
    metadata = build_metadata(ToolKind.INDEX, Facts(failure=error.code), workspace)
    body = error_body(error, metadata)
    return Outcome(body, encode(body), is_error=True)


def _check_permission(session: Session, tool: AnyTool) -> None:
    if tool.writes_workspace and not session.may_write:
        raise SightlineError(
            ErrorCode.WRITE_NOT_ALLOWED,
            f"{tool.name} changes files, which this session may not.",
            hint="Start the server with --allow-write.",
        )


@contextmanager
def _admitted(services: Services, session: Session) -> Generator[None, None, None]:
    limits = services.config.limits
    if session.active_calls >= session.call_limit or services.active_calls >= limits.max_inflight_calls:
        raise SightlineError(
            ErrorCode.OVERLOADED, "Too many calls are under way.", hint="Wait for some to finish and try again."
        )
    session.active_calls += 1
    services.active_calls += 1
    try:
        yield
    finally:
        session.active_calls -= 1
        services.active_calls -= 1


@contextmanager
def _in_use(workspace: Workspace | None) -> Generator[None, None, None]:
    if workspace is None:
        yield
        return
    workspace.active_calls += 1
    try:
        yield
    finally:
        workspace.active_calls -= 1


# Faults of these arguments have a code of their own.
_FIELD_CODES = {"strategy": ErrorCode.INVALID_STRATEGY, "max_tokens": ErrorCode.INVALID_MAX_TOKENS}


def _argument_error(tool: AnyTool, error: ValidationError) -> SightlineError:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    name = ".".join(str(part) for part in first["loc"]) or "arguments"
    known = sorted(tool.args.model_fields)
    if first["type"] == "extra_forbidden":
        near = nearest_name(name, known)
        return SightlineError(
            ErrorCode.INVALID_INPUT,
            f"{tool.name} has no argument '{name[:80]}'.",
            hint=f"Did you mean '{near}'?" if near else f"It takes: {', '.join(known)}.",
        )
    # A check of ours is told in its own words; the library would name the exception that carried them.
    told = first["msg"].removeprefix("Value error, ")
    return SightlineError(
        _FIELD_CODES.get(name, ErrorCode.INVALID_INPUT),
        f"{tool.name}: {f'{name}: ' if first['loc'] else ''}{told}.",
        hint="Correct it and ask again.",
    )
