"""The language servers of a process: one a language for all roots, or one a root where the server knows only one.

**Invariant**: a server's trouble is a `Source` or an `LspError` of its own language; nothing one server does makes a
question to another wait. A server that runs workspace code never sees an untrusted root.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self, TypeVar

import anyio
from anyio.abc import TaskGroup

from sightline_core.config import Config
from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.languages import language_of
from sightline_core.limits import Limits
from sightline_core.paths import RepoPath, RepoRoot
from sightline_core.types import Source, SourceStatus
from sightline_lsp import faults, pool_diagnostics
from sightline_lsp.answers import (
    Detected,
    DiagnosticsAnswer,
    LiveSymbol,
    LiveSymbols,
    Reply,
    ServerCapabilities,
    ServerState,
    ServerStatus,
)
from sightline_lsp.commands import clean_environment, find_program
from sightline_lsp.convert import Converter, Roots
from sightline_lsp.faults import LspError
from sightline_lsp.live_symbols import Fetched, LiveQueries
from sightline_lsp.messages import Malformed
from sightline_lsp.navigation import Navigation, Session
from sightline_lsp.servers import ServerRow, ServerTable, load_servers
from sightline_lsp.slot import Slot, connected
from sightline_lsp.texts import Texts
from sightline_lsp.transport import check_loopback
from sightline_lsp.watched_files import FileChange

T = TypeVar("T")
_READY_SHARE = 0.6
_HEAD_CHARS = 200
_REMEDIES = {SourceStatus.NOT_INSTALLED: "Get it", SourceStatus.UNTRUSTED: "Run"}


@dataclass(frozen=True, slots=True)
class Root:
    """A registered directory: whether its code may be run, and which languages were found in it."""

    path: str
    trusted: bool
    languages: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Choice:
    """The server that serves a language in a root, or why there is none."""

    language: str
    slot: Slot | None
    source: Source


class Pool(Navigation):
    """All servers. Use as `async with Pool(config, limits) as pool`, in one event loop."""

    def __init__(
        self,
        config: Config,
        limits: Limits,
        *,
        environment: Mapping[str, str] | None = None,
        ran_before: Iterable[tuple[str, str]] = (),
        on_first_run: Callable[[str, str], None] | None = None,
        on_state: Callable[[ServerStatus], None] | None = None,
    ) -> None:
        """`ran_before` and `on_first_run` are pairs of root and server, for whoever remembers them over restarts;
        `on_state` is told whenever a server starts, runs, dies or is given up."""
        self._limits = limits
        self._environment = dict(os.environ if environment is None else environment)
        self._table: ServerTable = load_servers(config)
        self.texts = Texts(limits)
        self._roots: dict[str, Root] = {}
        self._doors = Roots()
        self._slots: dict[tuple[str, str], Slot] = {}
        self._queries: dict[tuple[str, str], LiveQueries] = {}
        self._programs: dict[str, tuple[float, str | None]] = {}
        self._ran = set(ran_before)
        self._on_first_run = on_first_run
        self._on_state = on_state
        self._stack = AsyncExitStack()
        self._task_group: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._task_group = await self._stack.enter_async_context(anyio.create_task_group())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Stop every server at once, each within its bounds."""
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as stopping:
                for slot in self._slots.values():
                    stopping.start_soon(slot.stop)
        self._tasks.cancel_scope.cancel()
        # What was raised inside belongs to the caller; the task group must not wrap it.
        await self._stack.__aexit__(None, None, None)
        return None

    # -- roots ---------------------------------------------------------------------------------

    async def set_roots(self, roots: Sequence[Root]) -> None:
        """Follow the registered roots: each live server hears of a change once; eager servers start."""
        doors = [RepoRoot(root.path, self._limits) for root in roots]
        roots = [replace(root, path=door.path) for root, door in zip(roots, doors, strict=True)]
        self._roots = {root.path: root for root in roots}
        self._doors = Roots(doors)
        self._programs.clear()
        async with anyio.create_task_group() as changing:
            for key, slot in tuple(self._slots.items()):
                folders = self._folders(slot.row, key[1])
                if key[1] and not folders:
                    del self._slots[key]
                    self._queries.pop(key, None)
                    changing.start_soon(slot.stop)
                else:
                    changing.start_soon(slot.set_folders, folders)
        for root in roots:
            if root.trusted:
                self._start_eager(root)

    def file_changed(self, root: str, changes: Sequence[FileChange]) -> None:
        """Forward changes below `root` to the servers that watch them, debounced."""
        for slot in self._slots.values():
            if root in slot.folders:
                slot.files_changed(tuple(changes))

    # -- searching -----------------------------------------------------------------------------

    def languages(self) -> tuple[str, ...]:
        """Every language that some known server serves, installed or not."""
        return self._table.languages()

    def sources(self, root: str, languages: Iterable[str]) -> tuple[Source, ...]:
        """How each language would take part in an answer, without asking or starting anything."""
        return tuple(self._choose(root, language).source for language in dict.fromkeys(languages))

    async def workspace_symbols(
        self, root: str, query: str, languages: Iterable[str], budget_s: float
    ) -> LiveSymbols:
        """What the servers know about `query`, all asked at once, within `budget_s`; never raises for a server."""
        choices = [self._choose(root, language) for language in dict.fromkeys(languages)]
        door = self._door(root)
        asked = {id(c.slot): c.slot for c in choices if c.slot is not None and self._is_asked(c, query)}
        fetched: dict[int, Fetched | None] = {}

        async def ask(slot: Slot) -> None:
            fetched[id(slot)] = await self._queries_of(slot).get(door, query, budget_s)

        async with anyio.create_task_group() as tasks:
            for slot in asked.values():
                tasks.start_soon(ask, slot)
        symbols: dict[LiveSymbol, None] = {}
        for found in fetched.values():
            symbols.update(dict.fromkeys(found.symbols if found is not None else ()))
        sources = tuple(self._outcome(choice, id(choice.slot) in asked, fetched) for choice in choices)
        return LiveSymbols(tuple(symbols), sources, any(f.truncated for f in fetched.values() if f is not None))

    def _is_asked(self, choice: _Choice, query: str) -> bool:
        """Search asks what is meant to be up; an empty query is never sent, because it stalls some servers."""
        slot = choice.slot
        assert slot is not None
        wanted = choice.source.expected or slot.row.eager
        return bool(query.strip()) and (wanted or slot.state is not ServerState.STOPPED)

    def _outcome(self, choice: _Choice, was_asked: bool, fetched: Mapping[int, Fetched | None]) -> Source:
        slot, source = choice.slot, choice.source
        if slot is None:
            return source
        if not was_asked:
            idle = slot.state is ServerState.STOPPED and not source.expected
            off = replace(source, status=SourceStatus.OFF, detail="starts when a navigation tool needs it")
            return off if idle else source
        found = fetched[id(slot)]
        if found is None:
            status = slot.source_status
            return replace(source, status=SourceStatus.TIMEOUT if status is SourceStatus.OK else status)
        if found.error is not None:
            return self._failed(source, found.error)
        if not found.ready:
            return replace(source, status=SourceStatus.INDEXING, expected=True)
        return replace(source, status=SourceStatus.OK, detail="", expected=True)

    def _failed(self, source: Source, error: LspError) -> Source:
        blamed = error.blamed_on(source.language)
        detail = f"{blamed.message} {blamed.detail}".strip()
        return replace(source, status=error.status, detail=detail)

    # -- navigating ----------------------------------------------------------------------------

    async def _with_document(
        self, root: str, path: RepoPath, deadline_s: float, question: Callable[[Session], Awaitable[T]]
    ) -> Reply[T]:
        deadline = anyio.current_time() + deadline_s
        door = self._door(root)
        text = self.texts.read(door, path)
        language = language_of(path.relative, text.text[:_HEAD_CHARS].encode("utf-8", "replace"))
        slot = self._slot_for(root, language, path)
        reply: Reply[T] | None = None
        try:
            # Each step has its own bound; the grace lets those speak first, because they know more.
            with anyio.move_on_after(deadline_s + self._limits.lsp_deadline_grace_ms / 1000):
                reply = await self._converse(slot, door, path, language, deadline, question)
        except LspError as error:
            raise error.blamed_on(language) from None
        except Malformed as error:
            raise faults.garbage(language, error.reason) from None
        if reply is None:
            raise faults.timed_out(language, "a question", deadline_s)
        return reply

    async def _converse(
        self,
        slot: Slot,
        door: RepoRoot,
        path: RepoPath,
        language: str,
        deadline: float,
        question: Callable[[Session], Awaitable[T]],
    ) -> Reply[T]:
        client = await slot.client(deadline - anyio.current_time())
        loaded = await client.readiness.wait((deadline - anyio.current_time()) * _READY_SHARE)
        await client.documents.refresh()
        document = await client.documents.sync(door, path, language)
        converter = Converter(self._doors, self.texts, client.offers.unit, self._limits)
        value = await question(Session(client, document, converter, self._limits, deadline))
        # Some servers report progress on a request itself: what began and ended since then was no loading.
        is_sure = loaded and not client.readiness.has_progress
        status = SourceStatus.OK if is_sure else SourceStatus.INDEXING
        source = Source(language, status, slot.row.name, client.readiness.detail, expected=True)
        return Reply(value, source, converter.dropped, converter.truncated)

    async def diagnostics(self, root: str, path: RepoPath, deadline_s: float) -> DiagnosticsAnswer:
        """The findings about one file; a death during the wait is an outcome, not an error."""

        async def question(session: Session) -> pool_diagnostics.Found:
            return await pool_diagnostics.collect(session, path)

        reply = await self._with_document(root, path, deadline_s, question)
        found = reply.value
        return DiagnosticsAnswer(found.outcome, found.items, reply.source, found.truncated or reply.truncated)

    # -- servers -------------------------------------------------------------------------------

    async def start(self, language: str, connect: str = "") -> tuple[Source, ...]:
        """Start the server of a language for the roots, or connect to one that runs; raises `LspError`."""
        rows = self._table.candidates(language)
        if connect:
            check_loopback(connect)
            row = connected(rows[0] if rows else ServerRow(language, (), (language,)), connect)
            for root in self._roots.values():
                slot = self._slot(row, "", root.path)
                if slot.row != row:
                    await slot.restart(row)
        found: list[Source] = []
        for root in self._roots.values():
            choice = self._choose(root.path, language)
            if choice.slot is not None:
                choice.slot.start()
                choice = self._choose(root.path, language)
            found.append(choice.source)
        return tuple(dict.fromkeys(found))

    async def restart(self, name: str) -> tuple[str, ...]:
        """Restart every server that has that name or serves that language; returns their names."""
        hit = [slot for slot in self._slots.values() if name == slot.row.name or name in slot.row.languages]
        if not hit:
            raise faults.unavailable(
                name, "No such server runs.", SourceStatus.OFF, hint="detect_lsp_servers lists them."
            )
        async with anyio.create_task_group() as tasks:
            for slot in hit:
                tasks.start_soon(slot.restart)
        return tuple(slot.row.name for slot in hit)

    async def capabilities(self, root: str, language: str, deadline_s: float) -> ServerCapabilities:
        """What the server of a language offers, starting it if need be; raises `LspError`."""
        slot = self._slot_for(root, language, None)
        try:
            client = await slot.client(deadline_s)
        except LspError as error:
            raise error.blamed_on(language) from None
        version = faults.quoted(client.info.version or "")
        return ServerCapabilities(slot.row.name, version, str(client.offers.unit), client.offers.names())

    def status(self) -> tuple[ServerStatus, ...]:
        """Every server of the pool, running or not."""
        return tuple(slot.status() for slot in self._slots.values())

    def detect(self) -> tuple[Detected, ...]:
        """Every row of the table, where its program is, and how to get it."""
        self._programs.clear()
        used = {
            language: next((row.name for row in self._table.candidates(language) if self._program(row)), "")
            for language in self._table.languages()
        }
        return tuple(
            Detected(
                name=row.name,
                languages=row.languages,
                command=row.command,
                found=self._program(row),
                install=row.install,
                runs_workspace_code=row.runs_workspace_code,
                in_use_for=tuple(language for language, name in used.items() if name == row.name),
            )
            for row in self._table.rows.values()
        )

    # -- choosing ------------------------------------------------------------------------------

    def _choose(self, root: str, language: str) -> _Choice:
        """The server for `language` in `root`; makes its slot but starts nothing."""
        self._door(root)
        if self._table.is_off(language):
            return _Choice(language, None, Source(language, SourceStatus.OFF, detail="switched off"))
        rows = self._table.candidates(language)
        configured = self._table.is_configured(language)
        connected_slot = self._slots.get((rows[0].name if rows else language, ""))
        if connected_slot is not None and connected_slot.row.connect:
            return self._choice_of(connected_slot, root, language, configured=True)
        hint = next((row.install for row in rows if row.install), "")
        untrusted = ""
        for row in rows:
            program = self._program(row)
            if program is None:
                continue
            if row.runs_workspace_code and not self._roots[root].trusted:
                untrusted = untrusted or row.name
                continue
            return self._choice_of(self._slot(row, program, root), root, language, configured)
        if untrusted:
            runs_elsewhere = any(slot.row.name == untrusted and slot.running_client for slot in self._slots.values())
            expected = configured or runs_elsewhere or (root, untrusted) in self._ran
            source = Source(language, SourceStatus.UNTRUSTED, untrusted, f"sightline trust {root}", expected)
            return _Choice(language, None, source)
        source = Source(language, SourceStatus.NOT_INSTALLED, rows[0].name if rows else "", hint, configured)
        return _Choice(language, None, source)

    def _choice_of(self, slot: Slot, root: str, language: str, configured: bool) -> _Choice:
        alive = slot.state is not ServerState.STOPPED
        expected = configured or alive or (root, slot.row.name) in self._ran
        detail = slot.error.blamed_on(language).message if slot.error is not None else ""
        return _Choice(language, slot, Source(language, slot.source_status, slot.row.name, detail, expected))

    def _slot_for(self, root: str, language: str, path: RepoPath | None) -> Slot:
        choice = self._choose(root, language) if language else None
        if choice is None:
            shown = path.relative if path is not None else ""
            raise SightlineError(
                ErrorCode.LSP_UNAVAILABLE,
                f"No language is known for '{shown}'.",
                hint="Use search_code and get_file_outline for it.",
                data={"status": str(SourceStatus.UNSUPPORTED)},
            )
        if choice.slot is None:
            source = choice.source
            raise faults.unavailable(
                language,
                f"The language server is {source.status.replace('_', ' ')}.",
                source.status,
                hint=f"{_REMEDIES[source.status]}: {source.detail}." if source.status in _REMEDIES else "",
            )
        return choice.slot

    def _slot(self, row: ServerRow, program: str, root: str) -> Slot:
        key = (row.name, "" if row.multi_root or row.connect else root)
        slot = self._slots.get(key)
        if slot is None:
            slot = self._slots[key] = Slot(
                row,
                program,
                self._folders(row, key[1]),
                environment=clean_environment(self._doors.paths, self._environment),
                texts=self.texts,
                limits=self._limits,
                tasks=self._tasks,
                on_running=self._remember,
                on_state=self._tell_state,
            )
            self._queries[key] = LiveQueries(
                slot, self.texts, lambda: self._doors, limits=self._limits, tasks=self._tasks
            )
        return slot

    def _queries_of(self, slot: Slot) -> LiveQueries:
        return next(self._queries[key] for key, value in self._slots.items() if value is slot)

    def _folders(self, row: ServerRow, only: str) -> tuple[str, ...]:
        permitted = (r.path for r in self._roots.values() if r.trusted or not row.runs_workspace_code)
        return tuple(path for path in permitted if not only or path == only)

    def _program(self, row: ServerRow) -> str | None:
        """Where the row's program is; looked for again after a while, because servers get installed meanwhile."""
        if row.connect:
            return row.connect
        now = anyio.current_time()
        known = self._programs.get(row.name)
        if known is None or known[0] < now:
            found = find_program(row.command[0], self._doors.paths, self._environment)
            known = self._programs[row.name] = (now + self._limits.lsp_program_cache_s, found)
        return known[1]

    def _start_eager(self, root: Root) -> None:
        for language in sorted(root.languages):
            slot = self._choose(root.path, language).slot
            markers = slot.row.root_markers if slot is not None else ()
            wanted = not markers or any(os.path.lexists(os.path.join(root.path, name)) for name in markers)
            if slot is not None and slot.row.eager and wanted:
                slot.start()

    def _remember(self, slot: Slot) -> None:
        for folder in slot.folders:
            if (folder, slot.row.name) not in self._ran:
                self._ran.add((folder, slot.row.name))
                if self._on_first_run is not None:
                    self._on_first_run(folder, slot.row.name)

    def _tell_state(self, slot: Slot) -> None:
        if self._on_state is not None:
            self._on_state(slot.status())

    def _door(self, root: str) -> RepoRoot:
        door = self._doors.get(root)
        if door is None:
            raise SightlineError(
                ErrorCode.WORKSPACE_NOT_REGISTERED, f"'{root}' is no registered root.", hint="Register it first."
            )
        return door

    @property
    def _tasks(self) -> TaskGroup:
        assert self._task_group is not None
        return self._task_group
