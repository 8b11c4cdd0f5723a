"""Checks of thinking: where it must stand, and that it is what the provider issued, where it did.

Without the record most of this can only be suspected; a suspicion is a finding marked `maybe`.

Each takes a `View` and yields `Finding`s. Must not know: rule ids, texts, sources.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from lockstitch.facts import ASSISTANT, OTHER, SYSTEM, TOOL, USER
from lockstitch.rules.binding import Binding, Piece, last_turn, pieces, turn_of
from lockstitch.rules.view import Finding, View
from lockstitch.transcript import Reasoning

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "altered_thinking",
    "filtered_turn",
    "foreign_signature",
    "request_changed",
    "thinking_absent",
    "thinking_at_end",
    "thinking_leads",
    "thinking_removed_amid",
    "thinking_unbound",
]

# Signatures are base64; anything else was not issued by this provider.
_ISSUED: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
# What is put where text was cut off. Three dots alone are no sign: models write them.
_CUT_OFF: Final = re.compile(
    r"(?:…|[\[(<][^\[\]()<>]*(?:trimmed|truncated|\.\.\.|…)[^\[\]()<>]*[\])>])\s*\Z", re.IGNORECASE
)

# How much of the end of a text is looked at for such a mark.
_SEEN: Final = 200


def _mode(view: View) -> Any:
    """Return how thinking is set in the request, `None` where the request does not say."""
    setting = view.context.get("thinking")
    return setting.get("type") if isinstance(setting, dict) else None


def _thinks(view: View, index: int) -> bool:
    return any(isinstance(part, Reasoning) for part in view.parts(index))


def _spoken(view: View) -> list[int]:
    """List the positions that the model sees as turns of the user or of itself."""
    return [at for at, fact in enumerate(view.facts) if fact.role not in {OTHER, SYSTEM}]


# --- where thinking must stand --------------------------------------------------------------------


def thinking_leads(view: View) -> Iterator[Finding]:
    """Find a round of tools at the end whose turn does not start with thinking.

    Only where thinking is switched on by hand, as older models have it. Either the first or the
    newest answer of the round may hold it: thinking between calls is a choice of the model.
    """
    if _mode(view) != "enabled" or view.known.get("thinking_leads") is False:
        return
    calls = _round(view)
    if calls and not any(
        isinstance(next(iter(view.parts(at)), None), Reasoning) for at in (calls[0], calls[-1])
    ):
        yield Finding(
            calls[-1],
            "thinking is on and the turn that made these calls does not start with it: bring it "
            "back, or switch thinking off for this request",
            "content[0]",
        )


def _round(view: View) -> list[int]:
    """List the messages of the model whose calls were answered last, where the list ends there."""
    spoken = _spoken(view)
    found: list[int] = []
    answered = False
    for at in reversed(spoken):
        fact = view.facts[at]
        if fact.role == ASSISTANT:
            if not answered:
                return []
            found.insert(0, at)
        elif fact.role == TOOL or (fact.role == USER and fact.linked):
            answered = True
        else:
            break
    # Of a joined turn only its first message can lead.
    return [at for at in found if at == 0 or view.facts[at - 1].role != ASSISTANT]


def thinking_at_end(view: View) -> Iterator[Finding]:
    """Find thinking in a final assistant message although thinking is off."""
    spoken = _spoken(view)
    if _mode(view) != "disabled" or not spoken or view.facts[spoken[-1]].role != ASSISTANT:
        return
    for part in view.parts(spoken[-1]):
        if isinstance(part, Reasoning):
            yield Finding(
                spoken[-1],
                "the last message holds thinking and thinking is off: let the user have the last "
                "word, or drop the thinking",
                part.path,
            )
            return


def thinking_absent(view: View) -> Iterator[Finding]:
    """Find turns of the model that come without their thinking."""
    if _mode(view) == "disabled":
        return
    thought = False
    for at, fact in enumerate(view.facts):
        if fact.role != ASSISTANT:
            continue
        first = at == 0 or view.facts[at - 1].role != ASSISTANT
        last = at + 1 == len(view.facts) or view.facts[at + 1].role != ASSISTANT
        thought = (thought and not first) or _thinks(view, at)
        if last and not thought:
            yield Finding(
                at, "the thinking of this turn is missing: bring it back from the record", "content"
            )


def foreign_signature(view: View) -> Iterator[Finding]:
    """Find thinking whose signature this provider cannot have issued."""
    for index, fact in enumerate(view.facts):
        if fact.role != ASSISTANT:
            continue
        for part in view.parts(index):
            if not isinstance(part, Reasoning) or not part.sealed:
                continue
            if not (isinstance(part.sealed, str) and _ISSUED.fullmatch(part.sealed)):
                yield Finding(
                    index,
                    "the signature of this thinking is not the provider's own: drop the thinking",
                    part.path,
                )


# --- whether it is what was issued ----------------------------------------------------------------


def altered_thinking(view: View) -> Iterator[Finding]:
    """Find thinking that is not as it was issued, and thinking missing from the newest turn."""
    binding = view.binding
    if binding is None:
        yield from _cut_off(view)
        return
    issued = {piece.words for piece in binding.theirs if piece.thinking and piece.seal}
    seals = {seal for seal, _ in issued}
    newest = last_turn(view.transcript)[0]
    for piece in binding.ours:
        if piece.thinking and piece.seal in seals and piece.words not in issued:
            yield Finding(
                piece.index,
                "this thinking is not as the provider issued it: bring the original back",
                piece.path,
                # Older thinking is looked at only where all of it is bound to its place.
                maybe=piece.index < newest and not view.known.get("preserved_thinking"),
            )
    ours, theirs = _newest(view, binding)
    made = [piece.seal for piece in theirs if piece.thinking]
    kept = [piece.seal for piece in ours if piece.thinking and piece.seal in made]
    if kept != [seal for seal in made if seal in kept]:
        yield Finding(ours[0].index, "the thinking of the newest turn is out of order", "content")
    elif kept and any(piece.kind == "thinking" and piece.seal not in kept for piece in theirs):
        yield Finding(
            ours[0].index,
            "the newest turn holds only a part of its thinking: bring the rest back, or drop all",
            "content",
        )


def _cut_off(view: View) -> Iterator[Finding]:
    start, stop = last_turn(view.transcript)
    for index in range(start, stop):
        for part in view.parts(index):
            if isinstance(part, Reasoning) and _CUT_OFF.search(part.text[-_SEEN:]):
                yield Finding(
                    index,
                    "this thinking looks as if it was shortened: it must go back as it was issued",
                    part.path,
                    maybe=True,
                )


def filtered_turn(view: View) -> Iterator[Finding]:
    """Find a newest turn that lost sealed blocks between its thinking."""
    binding = view.binding
    if binding is None:
        yield from _touching(view)
        return
    ours, theirs = _newest(view, binding)
    if not any(piece.thinking for piece in ours):
        return
    held = [piece.block for piece in ours]
    lost = [piece for piece in theirs if _sealed(piece) and piece.block not in held]
    if lost:
        yield Finding(
            ours[0].index,
            f"the newest turn lost a block that stood beside its thinking ({lost[0].kind}): bring "
            "the whole turn back, or drop its thinking",
            "content",
        )


def _newest(view: View, binding: Binding) -> tuple[list[Piece], list[Piece]]:
    """Lay out the newest turn of the model, here and in the record (empty where it is not)."""
    ours = pieces(view.transcript, *last_turn(view.transcript))
    return ours, turn_of(binding.theirs, ours)


def _sealed(piece: Piece) -> bool:
    """Whether a block is one that the provider wrote for itself (text and calls are not)."""
    return piece.kind not in {"text", "thinking", "tool_use"}


def _touching(view: View) -> Iterator[Finding]:
    turn = pieces(view.transcript, *last_turn(view.transcript))
    for one, other in pairwise(turn):
        if one.kind == other.kind == "thinking":
            yield Finding(
                other.index,
                "two thinking blocks stand side by side: something between them may be missing",
                other.path,
                maybe=True,
            )


# --- whether it stands where it was made ----------------------------------------------------------


def _dropped_by_server(view: View) -> bool:
    """Whether the request asks that thinking that fails the check be dropped, not refused."""
    setting = view.context.get("thinking")
    binding = setting.get("block_binding") if isinstance(setting, dict) else None
    return isinstance(binding, dict) and binding.get("prefix_mismatch_behavior") == "drop_block"


def thinking_unbound(view: View) -> Iterator[Finding]:
    """Find thinking in front of which something is not as it was when it was made."""
    if view.binding is not None:
        for piece in view.binding.unbound:
            yield Finding(
                piece.index,
                "what stands before this thinking is not what it was made from: drop it, and all "
                "thinking behind the change",
                piece.path,
                maybe=_dropped_by_server(view),
            )
        return
    spoken = _spoken(view)
    if not spoken or view.facts[spoken[0]].role == USER or _compacted(view, spoken[0]):
        return
    first = next((at for at in spoken if _thinks(view, at)), None)
    if first is not None:
        yield Finding(
            first,
            "the conversation does not start with a user message, so its start may be missing: "
            "thinking is valid only behind what it was made from",
            "content",
            maybe=True,
        )


def _compacted(view: View, index: int) -> bool:
    """Whether a message is where the provider itself cut the history."""
    return any(getattr(part, "type", "") == "compaction" for part in view.parts(index))


def thinking_removed_amid(view: View) -> Iterator[Finding]:
    """Find thinking behind a place where other thinking was taken out, oldest ones kept."""
    found = view.binding
    if found is not None:
        if found.behind is not None:
            yield Finding(
                found.behind.index,
                "thinking was taken out before this one while older thinking was kept: only the "
                "oldest may go",
                found.behind.path,
                tuple(dict.fromkeys(piece.index for piece in found.kept)),
                maybe=_dropped_by_server(view),
            )
        return
    if _mode(view) != "disabled":
        yield from _bare_between(view)


def _bare_between(view: View) -> Iterator[Finding]:
    """Find the first round without any thinking that stands between two that have it."""
    bare = newest = -1
    thought = thinks = False
    for at, fact in enumerate(view.facts):
        if fact.role == USER and not fact.linked:
            # A round ends with the next thing the user says.
            bare = newest if thought and not thinks and bare < 0 else bare
            newest, thinks = -1, False
        elif fact.role == ASSISTANT and _thinks(view, at):
            if bare >= 0:
                yield Finding(
                    at,
                    f"the turn at {view.transcript.path}[{bare}] has no thinking while turns "
                    "before and after it have: if it was taken out, this thinking is invalid",
                    "content",
                    (bare,),
                    maybe=True,
                )
                return
            thought = thinks = True
        elif fact.role == ASSISTANT:
            newest = at


def request_changed(view: View) -> Iterator[Finding]:
    """Find thinking that was made under other instructions or tools than the request has."""
    binding = view.binding
    if view.record is None or binding is None:
        return
    before, now = view.record.context, view.context
    changed = [key for key in ("system", "tools") if before.get(key) != now.get(key)]
    if not changed or not before or not now:
        return
    issued = {piece.seal for piece in binding.theirs if piece.thinking and piece.seal}
    for piece in binding.ours:
        if piece.thinking and piece.seal in issued:
            yield Finding(
                piece.index,
                f"{' and '.join(changed)} of the request changed since this thinking was made: add "
                "a system message at the end instead, or drop the thinking",
                piece.path,
                maybe=_dropped_by_server(view),
            )
