"""The facade of acceptance: what a target takes of a history, and how it comes to take it.

Knows: how to open what the caller handed over, ask the rules, and hand back the caller's own kind
of thing. Checks every argument before anything is read.

Must not know: how a breach is found or mended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from lockstitch.formats import ALL
from lockstitch.opening import Opened
from lockstitch.rules.account import KINDS, Repair, Terms
from lockstitch.rules.check import check_transcript
from lockstitch.rules.models import known_of
from lockstitch.rules.profiles import get_profile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from lockstitch.rules.models import ModelFacts
    from lockstitch.rules.report import Report
    from lockstitch.transcript import Transcript

__all__ = ["check", "export", "repair"]

Tail = Literal["open", "closed"]


def check(
    source: Any,
    *,
    profile: str = "portable",
    tail: Tail = "open",
    format: str | None = None,
    model: str | None = None,
    models: Iterable[ModelFacts] = (),
    record: Any = None,
) -> Report:
    """Find what a target would refuse in a history. Changes nothing.

    Args:
        source: as for `load`. With a request body, what stands around the list is taken into
            account (`previous_response_id` and `conversation` hold earlier calls, `model` names the
            model, `tools` must be there for calls).
        profile: the acceptance rules to check against.
        tail: `open` while tools run: a call at the end may still lack its result; `closed` when
            the model is about to be called.
        format: as for `load`.
        model: the name of the model. Rules that hold for some models only are warnings where it is
            not known, and are left out where the model is known to differ.
        models: facts about models beside those that come with Lockstitch; they overrule them.
        record: the history as it was first recorded. Some breaches show only beside it.

    >>> from lockstitch.testing import result, user
    >>> report = check([user("hi"), result("call_1")], profile="openai-chat")
    >>> report.ok, report.violations[0].rule, report.violations[0].path
    (False, 'oc-tool-needs-call', 'messages[1].content')
    """
    _check_tail(tail)
    rules = get_profile(profile)
    opened = Opened(source, format, look=ALL)
    transcript = opened.transcript
    return check_transcript(
        transcript,
        rules,
        tail=tail,
        known=known_of(profile, opened.model(model), models),
        record=_record(record, transcript),
    )


def repair(
    source: Any,
    *,
    profile: str = "portable",
    tail: Tail = "closed",
    format: str | None = None,
    model: str | None = None,
    models: Iterable[ModelFacts] = (),
    record: Any = None,
    allow: Collection[str] = KINDS,
    drop_reasoning: bool = False,
    max_part_chars: int | None = None,
    dry_run: bool = False,
) -> Repair:
    """Mend what a target would refuse, with the least loss, and account for every change.

    What is lost comes back from the record where there is one; displaced results move to their
    calls; a call without a result is answered with an error that says that the outcome is unknown;
    a result without a call is kept as a note. No message is dropped for one bad part of it. Nothing
    is changed in place: untouched messages are the caller's own objects. A history that the target
    takes comes back as it is, and so does one that was repaired.

    Args:
        source: as for `load`.
        profile: the acceptance rules to satisfy.
        tail: as for `check`; a repair takes it that the model is about to be called.
        format: as for `load`.
        model: as for `check`.
        models: as for `check`.
        record: the history as it was first recorded, to bring lost halves back from.
        allow: the kinds of repair that may be used, of `move`, `synthesize`, `merge`, `demote` and
            `drop`. Kinds that lose and add nothing (`restore`, `rename`, `replace`) always may.
        drop_reasoning: leave reasoning out. A signature that must be handed back stays.
        max_part_chars: leave media out that have more characters of inline data, in results too; a
            word stands in their place, and what stands beside them stays. An item that is nothing
            but its picture (a screenshot of the computer tool) stays.
        dry_run: say what would be changed and hand the messages back as they are.

    Returns:
        A `Repair`: `messages`, `changes`, and `remaining` for what could not be mended; `system`
        and `request` for what belongs into the request around the list.

    Raises:
        FormatError: as for `load`.
        ValueError: an argument is not what it must be.

    >>> from lockstitch.testing import call, user
    >>> mended = repair([user("1"), call("a"), user("2")], profile="openai-chat")
    >>> [message["role"] for message in mended.messages], mended.summary()
    (['user', 'assistant', 'tool', 'user'], '1 synthesize')
    """
    _check_tail(tail)
    _check_kinds(allow)
    rules = get_profile(profile)
    opened = Opened(source, format, look=ALL)
    terms = Terms(
        profile=rules,
        tail=tail,
        known=known_of(profile, opened.model(model), models),
        allow=frozenset(allow),
        drop_reasoning=drop_reasoning,
        max_part_chars=_checked_size(max_part_chars),
    )
    return _mended(opened, terms, _record(record, opened.transcript), dry_run=dry_run)


def export(
    source: Any,
    *,
    profile: str,
    format: str | None = None,
    model: str | None = None,
    models: Iterable[ModelFacts] = (),
) -> Repair:
    """Write a history the way one target wants it; the record stays as it is.

    What belongs to the target alone: ids that it takes, on both halves and the same every time;
    neighbours of one role packed or parted; results first; null and blank content; reasoning and
    signatures that it did not issue. What is broken for every target is for `repair`.

    Args:
        source: as for `load`.
        profile: the target.
        format: as for `load`.
        model: as for `check`.
        models: as for `check`.

    Returns:
        `messages`, `changes`, `remaining`; and `system`, where the target keeps instructions
        outside the list.

    >>> from lockstitch.testing import assistant, user
    >>> export([user("1"), assistant("2"), user("3")], profile="openai-chat").changes
    ()
    """
    rules = get_profile(profile)
    opened = Opened(source, format, look=ALL)
    terms = Terms(
        profile=rules,
        known=known_of(profile, opened.model(model), models),
        target_only=True,
    )
    return _mended(opened, terms, None, dry_run=False)


def _mended(opened: Opened, terms: Terms, record: Transcript | None, *, dry_run: bool) -> Repair:
    # Most callers check and cut; what mends is loaded when something is to be mended.
    from lockstitch.rules.repair import left, mend

    transcript = opened.transcript
    draft = mend(transcript, terms, record)
    system = "\n\n".join(draft.system)
    natives: Sequence[Any] = transcript.natives
    around: Mapping[str, Any] = {}
    if draft.changes and not dry_run:
        natives = [entry.native for entry in draft.entries]
        around = dict(draft.request)
        if system:
            around |= draft.writer.instructed(transcript.context, system)
    return Repair(
        messages=opened.document.rebuild(natives, around),
        changes=tuple(draft.changes),
        remaining=left(draft, terms, record),
        system=system or None,
        request=dict(draft.request),
        origins=tuple(entry.origin for entry in draft.entries),
        profile=terms.profile.name,
        format=transcript.format.name,
    )


def _check_tail(tail: str) -> None:
    if tail not in ("open", "closed"):
        raise ValueError(f'tail must be "open" or "closed", got {tail!r}')


def _check_kinds(allow: Collection[str]) -> None:
    if isinstance(allow, str):
        raise TypeError(f"allow must be a collection of kinds, got the text {allow!r}")
    strange = sorted(str(kind) for kind in allow if kind not in KINDS)
    if strange:
        raise ValueError(
            f"no kind of repair is called {strange[0]!r}; there are: {', '.join(KINDS)}"
        )


def _checked_size(size: int | None) -> int | None:
    if size is not None and type(size) is not int:
        raise TypeError(f"max_part_chars must be an integer or None, got {size!r}")
    if size is not None and size < 0:
        raise ValueError(f"max_part_chars must not be negative, got {size}")
    return size


def _record(record: Any, transcript: Transcript) -> Transcript | None:
    """Open the record in the format of the history beside it."""
    if record is None:
        return None
    return Opened(record, transcript.format.name).transcript
