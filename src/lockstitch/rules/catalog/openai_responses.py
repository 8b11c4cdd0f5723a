"""The rules of OpenAI Responses.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.rule import ANSWER, HOME, Rule

__all__ = ["RESPONSES"]

RESPONSES: Final = (
    Rule(
        id="or-call-needs-output",
        profiles=("openai-responses",),
        title="every function call has its output",
        statement="A function_call needs a function_call_output with its call_id before the model "
        "runs.",
        error="No tool output found for function call call_….",
        status="issue",
        source="openai/codex issue 620; RooCodeInc/Roo-Code issue 12248",
        check="unanswered_function",
        repairs=ANSWER,
    ),
    Rule(
        id="or-output-needs-call",
        profiles=("openai-responses",),
        title="every output has its call",
        statement="The call_id of an output belongs to a call earlier in the input, or in what the "
        "server holds.",
        error="No tool call found for function call output with call_id ….",
        status="issue",
        source="continuedev/continue issue 10092; vellum-ai/vellum-assistant pull request 39909",
        check="orphan_result",
        repairs=HOME,
    ),
    Rule(
        id="or-computer-call-needs-output",
        profiles=("openai-responses",),
        title="every computer call has its output",
        statement="A computer_call needs a computer_call_output with its call_id.",
        error="No tool output found for computer call call_….",
        status="issue",
        source="Azure-Samples/computer-use issue 22",
        check="unanswered_computer",
        repairs=("restore", "drop"),
    ),
    Rule(
        id="or-custom-tool-pair",
        profiles=("openai-responses",),
        title="every custom tool call has its output",
        statement="A custom_tool_call needs a custom_tool_call_output with its call_id.",
        error="No tool output found for custom tool call call_…",
        status="inferred",
        severity="warning",
        source="the same family of checks as for function calls",
        check="unanswered_custom",
        repairs=ANSWER,
    ),
    Rule(
        id="or-shell-pair",
        profiles=("openai-responses",),
        title="every shell or patch call has its output",
        statement="shell_call and apply_patch_call pair with their outputs by call_id.",
        status="inferred",
        severity="warning",
        source="types of the openai SDK, release 3.57",
        check="unanswered_shell",
        repairs=ANSWER,
    ),
    Rule(
        id="or-local-shell-pair-key",
        profiles=("openai-responses",),
        title="every local shell call has its output",
        statement="A local_shell_call_output names its call in `id`, not in `call_id`.",
        status="inferred",
        severity="warning",
        source="types of the openai SDK, release 3.57",
        check="unanswered_local_shell",
        repairs=ANSWER,
    ),
    Rule(
        id="or-single-output",
        profiles=("openai-responses",),
        title="one output for each call",
        statement="A second output for one call answers nothing.",
        status="inferred",
        severity="warning",
        source="public reports disagree",
        check="duplicate_result",
        repairs=("merge", "drop"),
    ),
    Rule(
        id="or-reasoning-needs-following",
        profiles=("openai-responses", "portable"),
        title="reasoning is followed by the item it led to",
        statement="A reasoning item stands directly before an item of the same response.",
        error="Item 'rs_…' of type 'reasoning' was provided without its required following item.",
        status="issue",
        source="vercel/ai issue 7099; openai/openai-node issue 1567",
        check="lone_reasoning",
        formats=("openai-responses",),
        repairs=("restore", "drop"),
    ),
    Rule(
        id="or-duplicate-item",
        profiles=("openai-responses",),
        title="an item id appears once",
        statement="The same item is not sent twice.",
        error="Duplicate item found with id rs_…. Remove duplicate items from your input and try "
        "again.",
        status="issue",
        source="vercel/ai pull request 15492; openai/openai-agents-js issue 425",
        check="duplicate_item",
        formats=("openai-responses",),
        repairs=("drop",),
    ),
    Rule(
        id="or-approval-needs-request",
        profiles=("openai-responses", "portable"),
        title="an approval answers a request",
        statement="An mcp_approval_response answers a request in the input or in what the server "
        "holds.",
        status="inferred",
        severity="warning",
        source="types of the openai SDK, release 3.57; praxis-proxy/ai issue 637",
        check="orphan_approval",
        repairs=("restore", "drop"),
    ),
)
