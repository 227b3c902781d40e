"""Which session an HTTP request belongs to.

**Invariant**: a session lives exactly as long as its MCP connection; requests without one share a session that
remembers nothing of them.
"""

from __future__ import annotations

from sightline_server.app import Services
from sightline_server.protocol import Context, note_client
from sightline_server.sessions.connections import connection_of
from sightline_server.sessions.session import Session, TransportKind

_STATE_KEY = "sightline_session"


class HttpSessions:
    """Finds or makes the session of a request."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._anonymous = services.new_session(TransportKind.HTTP)
        # Strangers share it, so the bound of a single client does not fit; the bound of the process does.
        self._anonymous.shared = True
        self._anonymous.call_limit = services.config.limits.max_inflight_calls

    def session_for(self, context: Context) -> Session:
        """The session of the connection, or the shared one for single exchanges."""
        connection = connection_of(context)
        if connection.session_id is None:
            return self._anonymous
        session = connection.state.get(_STATE_KEY)
        if not isinstance(session, Session):
            session = self._services.new_session(TransportKind.HTTP)
            connection.state[_STATE_KEY] = session
            connection.exit_stack.callback(self._services.end_session, session)
        note_client(self._services, session, context)
        return session
