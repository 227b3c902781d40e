"""`get_completions` and `get_signature_help`: what can be written at a place."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sightline_core.limits import DEFAULT_LIMITS
from sightline_lsp.answers import Completion
from sightline_server.completeness import ToolKind
from sightline_server.envelope import WireModel
from sightline_server.lsp_question import answered, ask, facts_of
from sightline_server.targets import TargetArgs, TargetModel, resolve_target, target_model
from sightline_server.tools.base import Answer, Call, Result, Tool, Toolset


class GetCompletionsArgs(TargetArgs):
    """A place, and how many proposals."""

    limit: Annotated[
        int, Field(ge=1, le=DEFAULT_LIMITS.navigation_max_locations, description="Most proposals in the answer.")
    ] = DEFAULT_LIMITS.navigation_locations


class CompletionModel(WireModel):
    """One proposal."""

    label: str
    kind: str | None = None
    detail: str | None = None
    documentation: str | None = None
    insert_text: str | None = None


class GetCompletionsResult(Result):
    """The proposals, in the server's order."""

    target: TargetModel
    completions: list[CompletionModel]
    total: int


class SignatureModel(WireModel):
    """One signature."""

    label: str
    documentation: str | None = None
    parameters: list[str]


class GetSignatureHelpResult(Result):
    """The signatures of the call around the place."""

    target: TargetModel
    signatures: list[SignatureModel]
    active_signature: Annotated[int | None, Field(description="0-based, into `signatures`.")] = None
    active_parameter: Annotated[int | None, Field(description="0-based, into its `parameters`.")] = None


async def run_completions(call: Call, args: GetCompletionsArgs) -> Answer[GetCompletionsResult]:
    """Only a server can tell."""
    target = await resolve_target(call, args)
    asked = await ask(
        call, target.path, lambda pool, root, left: pool.completion(root, target.path, target.position, left), ()
    )
    found = answered(asked)
    result = GetCompletionsResult(
        target=target_model(target), completions=[_model(one) for one in found[: args.limit]], total=len(found)
    )
    return Answer(result, facts_of([asked], holes=target.holes))


def _model(one: Completion) -> CompletionModel:
    return CompletionModel(
        label=one.label,
        kind=one.kind or None,
        detail=one.detail or None,
        documentation=one.documentation or None,
        insert_text=one.insert_text if one.insert_text not in ("", one.label) else None,
    )


async def run_signature_help(call: Call, args: TargetArgs) -> Answer[GetSignatureHelpResult]:
    """Only a server can tell."""
    target = await resolve_target(call, args)
    asked = await ask(
        call,
        target.path,
        lambda pool, root, left: pool.signature_help(root, target.path, target.position, left),
        None,
    )
    found = answered(asked)
    result = GetSignatureHelpResult(
        target=target_model(target),
        signatures=[
            SignatureModel(label=one.label, documentation=one.documentation or None, parameters=list(one.parameters))
            for one in (found.signatures if found is not None else ())
        ],
        active_signature=found.active_signature if found is not None else None,
        active_parameter=found.active_parameter if found is not None else None,
    )
    return Answer(result, facts_of([asked], holes=target.holes))


GET_COMPLETIONS = Tool(
    name="get_completions",
    title="Get completions",
    description=(
        "Lists what could be written at a place, such as the members after a dot, as the language server sees it. "
        "Give path with line and column or with a pattern holding @@. To find a name anywhere use locate_symbol."
    ),
    toolset=Toolset.ANALYSIS,
    kind=ToolKind.NAVIGATION,
    args=GetCompletionsArgs,
    result=GetCompletionsResult,
    run=run_completions,
    in_default_set=False,
    list_field="completions",
)
GET_SIGNATURE_HELP = Tool(
    name="get_signature_help",
    title="Get signature help",
    description=(
        "Shows the signatures of the call around a place and the parameter that the place belongs to. Put the place "
        "inside the parentheses. For a function by name use inspect_symbol."
    ),
    toolset=Toolset.ANALYSIS,
    kind=ToolKind.NAVIGATION,
    args=TargetArgs,
    result=GetSignatureHelpResult,
    run=run_signature_help,
    in_default_set=False,
    list_field="signatures",
)
