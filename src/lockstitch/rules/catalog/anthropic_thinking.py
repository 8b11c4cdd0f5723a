"""The rules of Anthropic Messages about thinking.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.rule import Rule

__all__ = ["THINKING"]

THINKING: Final = (
    Rule(
        id="an-thinking-signature-required",
        profiles=("anthropic",),
        title="thinking carries its signature",
        statement="A thinking block has the signature it was issued with; a blank one is invalid.",
        error="messages.1.content.0.thinking.signature: Field required",
        status="code",
        source="types of the anthropic SDK, release 2.14; bigduu/Bamboo-agent issue 520",
        check="unsigned_thinking",
        formats=("anthropic",),
        repairs=("restore", "drop"),
    ),
    Rule(
        id="an-thinking-latest-immutable",
        profiles=("anthropic",),
        title="thinking of the newest turn goes back as it was issued",
        statement="Thinking blocks of the newest assistant turn go back unchanged, complete and "
        "in order, empty ones too; nothing may be shortened or blacked out inside them.",
        error="`thinking` or `redacted_thinking` blocks in the latest assistant message "
        "cannot be modified. These blocks must remain as they were in the original "
        "response.",
        status="docs",
        source="Claude API errors; anthropics/claude-code issue 19539",
        check="altered_thinking",
        formats=("anthropic",),
        repairs=("restore", "drop"),
    ),
    Rule(
        id="an-thinking-latest-filtered",
        profiles=("anthropic",),
        title="nothing sealed is missing beside the newest thinking",
        statement="Redacted thinking, server tool blocks and fallback blocks that stood between "
        "the thinking of the newest assistant turn stay in their places: without them "
        "the thinking counts as changed.",
        error="`thinking` or `redacted_thinking` blocks in the latest assistant message "
        "cannot be modified.",
        status="issue",
        source="LibreChat-AI/agents pull request 216; agentjido/req_llm pull request 1034; "
        "Claude API errors",
        check="filtered_turn",
        formats=("anthropic",),
        repairs=("restore", "drop"),
    ),
    Rule(
        id="an-thinking-must-lead",
        profiles=("anthropic",),
        title="with thinking switched on by hand, the turn of the last results starts with it",
        statement="Where the request sets thinking to enabled, the assistant turn before the last"
        " tool results starts with a thinking block. Adaptive thinking knows no such "
        "demand.",
        error="messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but "
        "found `tool_use`. When `thinking` is enabled, a final `assistant` message must"
        " start with a thinking block (preceeding the lastmost set of `tool_use` and "
        "`tool_result` blocks).",
        status="docs",
        source="Claude documentation, adaptive thinking; anomalyco/opencode issue 3077; "
        "mastra-ai/mastra issue 7799",
        check="thinking_leads",
        formats=("anthropic",),
        repairs=("restore", "replace"),
    ),
    Rule(
        id="an-thinking-signature-invalid",
        profiles=("anthropic",),
        title="a signature is one that this provider issued",
        statement="Reasoning of another provider, put into a thinking block, is refused for its "
        "signature. It is dropped and not turned into text, which was reported to cause"
        " refusals by the model.",
        error="messages.1.content.0: Invalid `signature` in `thinking` block",
        status="issue",
        source="vybestack/llxprt-code issue 2335; NousResearch/hermes-agent issue 24401",
        check="foreign_signature",
        formats=("anthropic",),
        target_only=True,
        repairs=("drop",),
    ),
    Rule(
        id="an-thinking-prefix-bound",
        profiles=("anthropic",),
        title="thinking is kept only behind what it was made from",
        statement="On models with preserved thinking, a thinking block is valid while the "
        "instructions, the tools and every message in front of it are unchanged; older "
        "thinking alone may be missing. After a cut, a summary or an edit all thinking "
        "behind it goes, once; thinking made afterwards is valid again.",
        error="messages.1.content.0: Invalid `signature` in `thinking` block. The block is "
        "bound to a different conversation. Remove the block, or set "
        '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
        status="docs",
        source="Claude documentation, preserved thinking, prefix checks; earendil-works/pi "
        "issue 9391",
        check="thinking_unbound",
        formats=("anthropic",),
        scope="preserved_thinking",
        repairs=("drop",),
    ),
    Rule(
        id="an-thinking-mid-removal",
        profiles=("anthropic",),
        title="thinking goes oldest first",
        statement="On models with preserved thinking, a leading run of thinking blocks may be "
        "taken out, oldest first; taking one out behind a kept one makes all later ones"
        " invalid.",
        error="The block is bound to a different conversation.",
        status="docs",
        source="Claude documentation, preserved thinking, prefix checks",
        check="thinking_removed_amid",
        formats=("anthropic",),
        scope="preserved_thinking",
        repairs=("restore", "drop"),
    ),
    Rule(
        id="an-system-or-tools-changed",
        profiles=("anthropic",),
        title="instructions and tools stay what kept thinking was made under",
        statement="On models with preserved thinking, other instructions or tools make all kept "
        "thinking invalid; a system message or a tool_addition block at the end changes"
        " them without that.",
        error="The block is bound to a different conversation.",
        status="docs",
        source="Claude documentation, preserved thinking, prefix checks",
        check="request_changed",
        formats=("anthropic",),
        scope="preserved_thinking",
        repairs=("drop",),
    ),
    Rule(
        id="an-thinking-other-model",
        profiles=("anthropic",),
        title="thinking of a model that the target cannot read is dropped",
        statement="The provider leaves such thinking out without an error; only a beta header "
        "makes it say so. The history alone does not show which model made a block.",
        status="docs",
        severity="warning",
        source="Claude documentation, what is new in Fable 5.1",
    ),
    Rule(
        id="an-thinking-disabled-final",
        profiles=("anthropic",),
        title="with thinking off, the last message holds none",
        statement="Where the request switches thinking off, an assistant message in the last "
        "place holds no thinking block.",
        error="messages.1.content.0: When thinking is disabled, an `assistant` message in the"
        " final position cannot contain `thinking`. To use thinking blocks, enable "
        "`thinking` in your request.",
        status="issue",
        source="tailcallhq/forgecode issue 1853",
        check="thinking_at_end",
        formats=("anthropic",),
        repairs=("synthesize", "drop"),
    ),
)
