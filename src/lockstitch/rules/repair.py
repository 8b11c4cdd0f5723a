"""Repair: from a history that a target refuses to one that it takes, with an account of it.

Knows: rounds. In each, the breaches of one check are mended, least loss first, and the history is
looked at again, until nothing is found or nothing helps. What could not be mended is said.

Must not know: how a breach is found (`checks`) or mended (`mends`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lockstitch.rules.account import LOSSLESS, Terms
from lockstitch.rules.breach import Breach
from lockstitch.rules.check import check_transcript, findings, view_of
from lockstitch.rules.draft import Draft
from lockstitch.rules.leave_out import leave_out
from lockstitch.rules.lookup import Lookup
from lockstitch.rules.mends import MENDS
from lockstitch.rules.record import Record
from lockstitch.writing import writer_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lockstitch.rules.breach import Mend
    from lockstitch.rules.report import Violation
    from lockstitch.rules.rule import Rule
    from lockstitch.rules.view import Finding, View
    from lockstitch.transcript import Transcript

__all__ = ["left", "mend"]

_ORDER = {check: number for number, check in enumerate(MENDS)}
_FIRST = ("restore", "move")
# A round mends all breaches of one check but those of a message that it has changed already, so a
# few rounds for each check and each breach of one message are enough; more of them go in a circle.
_PATIENCE = 32


def mend(transcript: Transcript, terms: Terms, record: Transcript | None = None) -> Draft:
    """Mend a transcript until nothing is found that helps; return the draft with its account."""
    draft = Draft(transcript, writer_for(transcript.format.name), terms.profile)
    memory = Record(record, transcript) if record is not None else None
    leave_out(draft, reasoning=terms.drop_reasoning, max_part_chars=terms.max_part_chars)
    patience = None
    while True:
        view = view_of(
            draft.transcript(),
            terms.profile,
            tail=terms.tail,
            known=terms.known,
            record=_witness(draft, record),
        )
        entries = draft.begin()
        wanted = _wanted(view, terms)
        if patience is None:
            widest = Counter(finding.index for _, finding in wanted).most_common(1)
            patience = _PATIENCE * (1 + sum(count for _, count in widest))
        patience -= 1
        lookup = Lookup(view)
        breaches = (
            Breach(
                rule=rule,
                finding=finding,
                view=view,
                entries=entries,
                lookup=lookup,
                record=memory,
            )
            for rule, finding in wanted
        )
        if patience < 0 or not _round(draft, terms, breaches):
            return draft


def _witness(draft: Draft, record: Transcript | None) -> Transcript | None:
    """Return what the thinking of a draft was made from.

    Thinking is bound to what stands around it, so mends may unbind it; with no record, the history
    as it came is all that shows this.
    """
    changed = draft.profile.sealed_turns and bool(draft.changes)
    return draft.source if record is None and changed else record


def _wanted(view: View, terms: Terms) -> list[tuple[Rule, Finding]]:
    """List the breaches that are to be mended, in the order of mending, then of place."""
    found: list[tuple[Rule, Finding]] = []
    seen: set[tuple[str, int, str]] = set()
    for rule, severity, finding in findings(view, terms.profile):
        # An export takes nothing away for a trait that the model is not known to have.
        surely = not rule.scope or terms.known.get(rule.scope, False)
        if terms.target_only:
            wanted = rule.target_only and surely
        else:
            wanted = severity == "error" or rule.disputed
        key = (rule.check, finding.index, finding.path)
        if wanted and rule.check in MENDS and rule.repairs and key not in seen:
            seen.add(key)
            found.append((rule, finding))
    found.sort(key=lambda one: (_ORDER[one[0].check], one[1].index))
    return found


def _round(draft: Draft, terms: Terms, breaches: Iterable[Breach]) -> bool:
    """Mend what can be mended of the first check that has such; return whether any was."""
    check = None
    for breach in breaches:
        if check is not None and breach.rule.check != check:
            break
        if breach.fresh and any(mended(draft, breach) for mended in _means(breach.rule, terms)):
            check = breach.rule.check
    return check is not None


def _means(rule: Rule, terms: Terms) -> Iterator[Mend]:
    """Yield what may mend a breach of a rule, least loss first."""
    table = MENDS[rule.check]
    # What brings something back, or to its place, is tried whether or not the rule thought of it.
    kinds = dict.fromkeys((*_FIRST, *rule.repairs))
    for kind in kinds:
        if kind in table and (kind in LOSSLESS or kind in terms.allow):
            yield table[kind]


def left(draft: Draft, terms: Terms, record: Transcript | None = None) -> tuple[Violation, ...]:
    """Return the errors that a draft still has."""
    report = check_transcript(
        draft.transcript(),
        terms.profile,
        tail=terms.tail,
        known=terms.known,
        record=_witness(draft, record),
    )
    return report.errors
