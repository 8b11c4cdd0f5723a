"""What is asked of the steps: the target, the limits, and what must not be touched.

Knows: the profile, what is known of the model, the pins and what belongs to them, and how to tell
that a step broke a rule that held before it.

Must not know: any step.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lockstitch.grouping import Groups, group, ties_for
from lockstitch.rules.check import check_transcript

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockstitch.grouping import Group
    from lockstitch.measure.limits import Limits
    from lockstitch.rules.profiles import Profile
    from lockstitch.strategies.working import Working
    from lockstitch.transcript import Transcript

__all__ = ["Asked"]


class Asked:
    """What is asked of every step.

    Args:
        profile: the target.
        known: what is known of the model.
        limits: the bounds of the window.
        pins: positions of the input that stay as they are; their groups stay as well.
        bound: thinking is valid only behind the very messages it was made from.
    """

    def __init__(
        self,
        profile: Profile,
        known: Mapping[str, bool],
        limits: Limits,
        pins: frozenset[int],
        *,
        bound: bool,
    ) -> None:
        self.profile = profile
        self.known = known
        self.limits = limits
        self.pins = pins
        self.bound = bound
        self.pinned: frozenset[int] = frozenset()
        self._of: tuple[Transcript, Groups] | None = None
        self._broken: Counter[str] = Counter()

    def begin(self, work: Working) -> None:
        """Look at the input: what belongs to the pins."""
        if not self.pins:
            return
        found = self.groups(work)
        self.pinned = frozenset(
            at for unit in found if self.pins.intersection(unit.members) for at in unit.members
        )

    def groups(self, work: Working) -> Sequence[Group]:
        """Return the groups of the rows as they stand."""
        return self._groups(work.transcript)

    def _groups(self, transcript: Transcript) -> Groups:
        if self._of is None or self._of[0] is not transcript:
            profile = self.profile
            ties = ties_for(
                transcript, whole_response=profile.whole_response, bound_system=profile.bound_system
            )
            self._of = transcript, group(transcript.facts_from(0), 0, ties, detail=False)
        return self._of[1]

    # --- rules that held before a step -----------------------------------------------------------

    def hold_to(self, work: Working) -> None:
        """Remember which rules are broken as things stand, so that a step may break no more."""
        self._broken = self._breaches(work.transcript)

    def breaks(self, work: Working) -> str:
        """Return a rule that is broken now and was not, or more often; empty if there is none."""
        now = self._breaches(work.transcript)
        return next((rule for rule in now if now[rule] > self._broken[rule]), "")

    def _breaches(self, transcript: Transcript) -> Counter[str]:
        report = check_transcript(transcript, self.profile, tail="closed", known=self.known)
        return Counter(one.rule for one in report.errors)
