"""The rules of Gemini generateContent.

Neighbouring contents of one role are one turn, so pairing and counting are judged on joined turns.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.rule import ANSWER, HOME, Rule

__all__ = ["GEMINI"]

_CALL_TURN = (
    "Please ensure that function call turn comes immediately after a user turn or after a function "
    "response turn."
)
_RESPONSE_TURN = (
    "Please ensure that function response turn comes immediately after a function call turn."
)
_COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function "
    "call parts of the function call turn."
)

GEMINI: Final = (
    Rule(
        id="ge-call-after-user",
        profiles=("gemini",),
        title="a call does not open the conversation",
        statement="A turn of calls stands behind a user turn or a turn of responses, so it cannot be "
        "the first.",
        error=_CALL_TURN,
        status="issue",
        source="google-gemini/gemini-cli issue 11814; continuedev/continue issue 11164",
        check="call_leads",
        repairs=("restore", "synthesize"),
    ),
    Rule(
        id="ge-call-after-model-text",
        profiles=("gemini",),
        title="text and the calls behind it are one content",
        statement="A content with calls does not stand behind another content of the model that has "
        "none. (Recorded: call behind call is taken.)",
        error=_CALL_TURN,
        status="issue",
        source="google-gemini/gemini-cli issue 26956; recorded requests",
        check="call_after_model_text",
        formats=("gemini",),
        target_only=True,
        repairs=("merge",),
    ),
    Rule(
        id="ge-response-after-call",
        profiles=("gemini",),
        title="every response has its call",
        statement="A turn of responses stands behind the turn of calls that it answers.",
        error=_RESPONSE_TURN,
        status="issue",
        source="langchain-ai/langchain issue 27799",
        check="orphan_client_result",
        repairs=HOME,
    ),
    Rule(
        id="ge-response-late",
        profiles=("gemini",),
        title="a response does not come late",
        statement="A response behind another turn does not answer its call.",
        error=_RESPONSE_TURN,
        status="issue",
        source="langchain-ai/langchain issue 27799; google-gemini/gemini-cli issue 5443",
        check="displaced_result",
        repairs=("move",),
    ),
    Rule(
        id="ge-response-astray",
        profiles=("gemini",),
        title="a response stands at its call",
        statement="A response answers a call of the turn before it: not one further back, nor a later "
        "one.",
        error=_RESPONSE_TURN,
        status="issue",
        source="langchain-ai/langchain issue 27799",
        check="response_astray",
        repairs=("move",),
    ),
    Rule(
        id="ge-count-equal",
        profiles=("gemini",),
        title="as many responses as calls",
        statement="The turn behind a turn of calls holds one response for each call. That they stand "
        "in one content was reported; recorded requests show joined contents taken.",
        error=_COUNT,
        status="issue",
        source="google-gemini/gemini-cli issues 16415 and 4217",
        check="response_count",
        repairs=ANSWER,
    ),
    Rule(
        id="ge-single-response",
        profiles=("gemini",),
        title="one response for each call",
        statement="A call is answered once; a second response makes more responses than calls.",
        error=_COUNT,
        status="issue",
        source="google-gemini/gemini-cli issues 16415 and 4217",
        check="duplicate_result",
        repairs=("merge", "drop"),
    ),
    Rule(
        id="ge-dangling-call",
        profiles=("gemini",),
        title="calls are answered before the conversation goes on",
        statement="Behind a turn of calls comes a turn of responses, no plain user turn.",
        error=_COUNT,
        status="issue",
        source="google-gemini/gemini-cli issue 5443",
        check="dangling_call",
        repairs=ANSWER,
    ),
    Rule(
        id="ge-signature-missing",
        profiles=("gemini",),
        title="the first call of a step carries its thought signature",
        statement="From Gemini 3 on, in everything behind the newest user message, the first call of "
        "each step carries the signature it came with.",
        error="Function call is missing a thought_signature in functionCall parts. This is required "
        "for tools to work correctly, and missing thought_signature may lead to degraded model "
        "performance. Additional data, function call `default_api:web_search` , position 2.",
        status="issue",
        source="Google documentation, thought signatures; langgenius/dify-official-plugins issue "
        "2088; nearai/ironclaw issue 1510",
        check="signature_missing",
        formats=("gemini",),
        scope="signature_demanded",
        target_only=True,
        repairs=("restore", "replace"),
    ),
    Rule(
        id="ge-signature-corrupt",
        profiles=("gemini",),
        title="a thought signature is as it was issued",
        statement="A signature is kept byte for byte and is valid only for the model and the key it "
        "was issued to.",
        error="Corrupted thought signature.",
        status="docs",
        source="apiyi documentation, Gemini thought signatures",
        check="signature_corrupt",
        formats=("gemini",),
        repairs=("restore", "replace"),
    ),
    Rule(
        id="ge-signature-part-merge",
        profiles=("gemini",),
        title="a signature stays on its part",
        statement="A signature is never moved to another part, and two signed parts are never made "
        "one; of parallel calls only the first has one.",
        status="docs",
        source="Google documentation, thought signatures",
    ),
    Rule(
        id="ge-parts-empty",
        profiles=("gemini",),
        title="no content without parts",
        statement="Every content has at least one part.",
        error="* GenerateContentRequest.contents[1].parts: contents.parts must not be empty.",
        status="issue",
        source="vercel/ai issue 3775; langgenius/dify issue 30566; genkit-ai/genkit issue 3690",
        check="no_parts",
        formats=("gemini",),
        repairs=("drop", "replace"),
    ),
    Rule(
        id="ge-part-data-required",
        profiles=("gemini",),
        title="every part holds something",
        statement="A part has one field of data. Empty text beside responses counts as none; "
        "recorded requests show it taken alone and behind a call.",
        error="* GenerateContentRequest.contents[33].parts[0].data: required oneof field 'data' must "
        "have one initialized field",
        status="issue",
        source="boldsoftware/sketch issue 68; 54xzh/FLIT issue 69; recorded requests",
        check="part_without_data",
        formats=("gemini",),
        repairs=("drop",),
    ),
    Rule(
        id="ge-contents-empty",
        profiles=("gemini",),
        title="at least one content",
        statement="The list is not empty; a system instruction alone is nothing to answer.",
        error="Unable to submit request because at least one contents field is required",
        status="issue",
        source="Calcium-Ion/new-api-horizon issue 24",
        check="no_messages",
        repairs=("restore",),
    ),
    Rule(
        id="ge-role",
        profiles=("gemini",),
        title="the role is user or model",
        statement="Instructions go to systemInstruction, responses stand under the role user.",
        error="Please use a valid role: user, model.",
        status="code",
        source="recorded refusal, open-telemetry/opentelemetry-python-contrib, "
        "test_generate_content_invalid_role",
        check="strange_role",
        formats=("gemini",),
        repairs=("move", "replace"),
    ),
    Rule(
        id="ge-end-with-model",
        profiles=("gemini",),
        title="the user has the last word",
        statement="What is sent ends with a user turn or a turn of responses.",
        error="Please ensure that multiturn requests ends with a user role or a function response.",
        status="issue",
        source="crewAIInc/crewAI pull request 6973",
        check="ends_with_model",
        repairs=("synthesize",),
    ),
    Rule(
        id="ge-response-name",
        profiles=("gemini",),
        title="a response names its function",
        statement="The name of a response is that of the call it answers.",
        error="function_response.name: Name cannot be empty.",
        status="inferred",
        severity="warning",
        source="remembered, not confirmed",
        check="response_name",
        formats=("gemini",),
        target_only=True,
        repairs=("rename",),
    ),
)
