"""What a caller could do next, as a call that can be made as it stands."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from sightline_server.envelope import WireModel


class NextAction(WireModel):
    """A tool with its arguments filled in."""

    tool: str
    arguments: Annotated[dict[str, Any], Field(description="Pass them as they are.")]
    reason: str
