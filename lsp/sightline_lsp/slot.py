"""One server's life: started on need, watched, restarted with back-off, stopped when idle.

**Invariant**: at most one process at a time; every way a life can end is written to `error` and wakes whoever waits;
no fault of the server leaves the task that runs it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

import anyio
from anyio.abc import TaskGroup

from sightline_core.limits import Limits
from sightline_core.types import SourceStatus
from sightline_lsp import faults
from sightline_lsp.answers import ServerState, ServerStatus
from sightline_lsp.breaker import Breaker
from sightline_lsp.client import Client
from sightline_lsp.connection import Connection
from sightline_lsp.faults import LspError
from sightline_lsp.process import LaunchError, ServerProcess, Usage
from sightline_lsp.servers import ServerRow
from sightline_lsp.texts import Texts
from sightline_lsp.transport import Transport, open_transport
from sightline_lsp.waiting import either
from sightline_lsp.watched_files import FileChange

log = logging.getLogger(__name__)


class Slot:
    """The place of one server in the pool."""

    def __init__(
        self,
        row: ServerRow,
        program: str,
        folders: tuple[str, ...],
        *,
        environment: Mapping[str, str],
        texts: Texts,
        limits: Limits,
        tasks: TaskGroup,
        on_running: Callable[[Slot], None],
        on_state: Callable[[Slot], None] | None = None,
    ) -> None:
        self.row = row
        self.program = program
        self.folders = folders
        self._environment = environment
        self._texts = texts
        self._limits = limits
        self._tasks = tasks
        self._on_running = on_running
        self._on_state = on_state
        self._breaker = Breaker(limits, anyio.current_time)
        self._client: Client | None = None
        self._process: ServerProcess | None = None
        self._changed = anyio.Event()
        self._stop = anyio.Event()
        self._last_used = anyio.current_time()
        self._ends = 0
        self._flushing = False
        self.state = ServerState.STOPPED
        self.error: LspError | None = None
        # Grows with whatever may change an answer: file changes, a new process, the end of loading.
        self.generation = 0

    # -- asking --------------------------------------------------------------------------------

    async def client(self, timeout_s: float) -> Client:
        """The initialized client, starting the server if need be; raises `LspError`."""
        deadline = anyio.current_time() + timeout_s
        # A life that is over already, though not yet cleared away, is not the one this request waits for.
        dying = self.state is ServerState.RUNNING and self.running_client is None
        ends_before = self._ends + dying
        while True:
            self._last_used = anyio.current_time()
            running = self.running_client
            if running is not None:
                return running
            if self._ends > ends_before and self.error is not None:
                raise self.error
            self.start()
            if self.state is ServerState.DOWN:
                raise self._broken()
            left = deadline - anyio.current_time()
            if left <= 0:
                raise self._late()
            with anyio.move_on_after(left):
                await self._changed.wait()

    @property
    def running_client(self) -> Client | None:
        """The client while its server can be asked."""
        client = self._client
        if client is None or self.state is not ServerState.RUNNING or client.connection.closed.is_set():
            return None
        return client

    @property
    def source_status(self) -> SourceStatus:
        """How the server would take part in an answer now."""
        if self.state is ServerState.RUNNING:
            client = self.running_client
            if client is None:
                return SourceStatus.DOWN
            return SourceStatus.OK if client.readiness.is_ready else SourceStatus.INDEXING
        if self.state in (ServerState.WAITING, ServerState.DOWN):
            return SourceStatus.DOWN
        return SourceStatus.DOWN if self.error is not None else SourceStatus.STARTING

    def status(self) -> ServerStatus:
        """For `health_check`."""
        client, process = self.running_client, self._process
        usage = process.usage() if process is not None else Usage()
        detail = self.error.message if self.error is not None else ""
        if client is not None:
            detail = client.readiness.detail
        return ServerStatus(
            name=self.row.name,
            languages=self.row.languages,
            state=self.state,
            pid=process.pid if process is not None else None,
            rss_bytes=usage.rss_bytes,
            cpu_s=usage.cpu_s,
            roots=self.folders,
            starts=self._breaker.total_starts,
            ready=client is not None and client.readiness.is_ready,
            detail=detail,
        )

    # -- starting and stopping -----------------------------------------------------------------

    def start(self) -> None:
        """Start the server in the background unless it runs, waits or is down."""
        if self.state is not ServerState.STOPPED:
            return
        if self._breaker.is_open:
            self._set_state(ServerState.DOWN)
            return
        self._stop = anyio.Event()
        delay_s = self._breaker.delay_s()
        self._set_state(ServerState.WAITING if delay_s > 0 else ServerState.STARTING)
        self._tasks.start_soon(self._live, delay_s)

    async def stop(self) -> None:
        """End the server, politely first; returns when it is gone. Bounded."""
        bound = (
            self._limits.lsp_shutdown_timeout_s + self._limits.lsp_kill_timeout_s + self._limits.lsp_write_timeout_s
        )
        with anyio.move_on_after(bound):
            while self.state not in (ServerState.STOPPED, ServerState.DOWN):
                self._stop.set()
                await self._changed.wait()

    async def restart(self, row: ServerRow | None = None) -> None:
        """Stop, forgive, start; with another row from now on if one is given."""
        await self.stop()
        if row is not None:
            self.row = row
        self._breaker.reset()
        self.error = None
        self._set_state(ServerState.STOPPED)
        self.start()

    async def set_folders(self, folders: tuple[str, ...]) -> None:
        """Follow the registered roots; one message to a live server, a restart where it does not listen."""
        if folders == self.folders:
            return
        self.folders = folders
        self.generation += 1
        client = self.running_client
        if client is None:
            return
        if client.offers.follows_folders:
            with suppress(LspError):
                await client.change_folders(folders)
        else:
            await self.stop()
            self.start()

    def files_changed(self, changes: tuple[FileChange, ...]) -> None:
        """Pass on what the server asked to hear of, after the debounce."""
        self.generation += 1
        client = self.running_client
        if client is not None and client.watched.add(changes, self.folders) and not self._flushing:
            self._flushing = True
            self._tasks.start_soon(self._flush, client)

    # -- the life ------------------------------------------------------------------------------

    async def _live(self, delay_s: float) -> None:
        with anyio.move_on_after(delay_s):
            await self._stop.wait()
        error: LspError | None = None
        if not self._stop.is_set():
            self._breaker.started()
            self._set_state(ServerState.STARTING)
            error = await self._run()
        self._client = self._process = None
        self._ends += 1
        self.generation += 1
        self.error = error
        if error is not None:
            log.warning("%s", error.message)
            self._breaker.died()
        self._set_state(ServerState.DOWN if self._breaker.is_open else ServerState.STOPPED)

    async def _run(self) -> LspError | None:
        """From the start to the end of one process; None when it was asked to end."""
        try:
            async with open_transport(self.row, self.program, self._environment, self._limits) as transport:
                self._process = transport.process
                return await self._converse(transport)
        except LaunchError as error:
            return faults.died(self.row.languages[0], self.row.name, str(error), "")
        except Exception:
            log.exception("[%s] %s: unexpected fault", self.row.languages[0], self.row.name)
            return faults.died(self.row.languages[0], self.row.name, "an internal fault, see the log", "")

    async def _converse(self, transport: Transport) -> LspError | None:
        client = Client(self.row, self.folders, self._texts, self._limits)
        client.on_refresh = self._outdate
        drained = anyio.Event()
        connection = Connection(
            transport.receive,
            transport.send,
            client,
            language=client.language,
            server=self.row.name,
            limits=self._limits,
            describe_death=lambda reason: self._describe_death(reason, transport.process),
            farewell=lambda: self._farewell(transport.process, drained),
        )
        client.attach(connection)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.run)
            if transport.process is not None:
                tasks.start_soon(self._watch_process, transport.process, connection, drained)
            try:
                return await self._serve(client, connection)
            finally:
                tasks.cancel_scope.cancel()

    async def _serve(self, client: Client, connection: Connection) -> LspError | None:
        error = await self._shake_hands(client)
        if error is not None:
            return error
        if self._stop.is_set():
            return None
        self._client = client
        self.generation += 1
        self.error = None
        self._set_state(ServerState.RUNNING)
        self._on_running(self)
        await self._catch_up_with_folders(client)
        if not await self._until_end(connection):
            return self._death_of(connection)
        with suppress(LspError):
            await client.shutdown()
        return None

    async def _shake_hands(self, client: Client) -> LspError | None:
        error: LspError | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._withdraw_on_stop, tasks.cancel_scope)
            try:
                await client.initialize(self._limits.lsp_initialize_timeout_s)
            except LspError as caught:
                error = caught
            tasks.cancel_scope.cancel()
        return error

    async def _catch_up_with_folders(self, client: Client) -> None:
        """The roots may have changed during the handshake."""
        if client.folders == self.folders:
            return
        if client.offers.follows_folders:
            with suppress(LspError):
                await client.change_folders(self.folders)
        else:
            self._stop.set()

    async def _until_end(self, connection: Connection) -> bool:
        """Wait for the end; True when it is ours to end the server, False when it died."""
        while not connection.closed.is_set():
            idle_s = self._limits.lsp_idle_stop_s - (anyio.current_time() - self._last_used)
            if self._stop.is_set() or (idle_s <= 0 and connection.pending_count == 0):
                return True
            with anyio.move_on_after(max(idle_s, self._limits.lsp_stall_ms / 1000)):
                await either(connection.closed, self._stop)
        return False

    async def _withdraw_on_stop(self, scope: anyio.CancelScope) -> None:
        await self._stop.wait()
        scope.cancel()

    async def _watch_process(self, process: ServerProcess, connection: Connection, drained: anyio.Event) -> None:
        async with anyio.create_task_group() as tasks:

            async def drain() -> None:
                await process.drain_stderr()
                drained.set()

            tasks.start_soon(drain)
            await process.wait()
            # What it wrote before it ended is still read.
            with anyio.move_on_after(self._limits.lsp_farewell_ms / 1000):
                await connection.closed.wait()
            connection.close(lambda: self._describe_death("it ended", process))

    async def _farewell(self, process: ServerProcess | None, drained: anyio.Event) -> None:
        if process is not None:
            with anyio.move_on_after(self._limits.lsp_farewell_ms / 1000):
                await process.wait()
                await drained.wait()

    async def _flush(self, client: Client) -> None:
        await anyio.sleep(self._limits.lsp_watch_debounce_ms / 1000)
        self._flushing = False
        if client is not self.running_client:
            return
        if client.watched.overflowed:
            client.watched.take()
            await self.stop()
            self.start()
            return
        with suppress(LspError):
            await client.flush_watched()

    # -- helpers -------------------------------------------------------------------------------

    def _outdate(self) -> None:
        self.generation += 1

    def _set_state(self, state: ServerState) -> None:
        self.state = state
        self._changed.set()
        self._changed = anyio.Event()
        if self._on_state is not None:
            self._on_state(self)

    def _describe_death(self, reason: str, process: ServerProcess | None) -> LspError:
        code = process.exit_code if process is not None else None
        text = f"{reason} (exit code {code})" if code is not None else reason
        tail = process.stderr_tail if process is not None else ""
        return faults.died(self.row.languages[0], self.row.name, text, tail)

    def _death_of(self, connection: Connection) -> LspError:
        return connection.death or self._describe_death("it ended", self._process)

    def _broken(self) -> LspError:
        last = f" Last: {self.error.text}" if self.error is not None else ""
        return faults.unavailable(
            self.row.languages[0],
            f"{self.row.name} was started {self._limits.lsp_max_starts} times and is down.{last}",
            SourceStatus.DOWN,
            hint="Start it again with restart_lsp_server.",
            detail=self.error.detail if self.error is not None else "",
        )

    def _late(self) -> LspError:
        return faults.not_ready(self.row.languages[0], self.row.name, self.source_status)


def connected(row: ServerRow, address: str) -> ServerRow:
    """The same server, reached at `address`."""
    return replace(row, connect=address)
