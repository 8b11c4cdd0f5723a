"""Pairing once more, in the plainest way: every end looks through everything that was said before.

Written from the words, not from the walk: a result consumes the open call whose occurrence it
names; else one of its family and id in
the nearest run that has one, first in, first out inside it; else one known under a second id; else
one of another family that clients run; else one without an id that it fits by name; else it is a
second answer, or an orphan. Quadratic, and meant to be.
"""

from dataclasses import dataclass, field

from lockstitch.facts import (
    ANSWER,
    ASSISTANT,
    CALL,
    CLIENT_FAMILIES,
    FUNCTION,
    INTERIM,
    REJECTED,
    REQUEST,
    RESULT,
    TOOL,
    USER,
    Facts,
    Link,
)


@dataclass(eq=False)
class End:
    """A call or a request: where it stands, in which run, and which message closed it."""

    message: int
    ordinal: int
    link: Link
    run: int
    answer: int | None = None
    partner: "End | None" = None
    keys: list = field(default_factory=list)

    @property
    def place(self):
        return self.message, self.ordinal


class Reference:
    """Groups, ends and how each came out, over a whole history."""

    def __init__(self, facts: list[Facts], *, whole_response: bool = False) -> None:
        self.count = len(facts)
        self.edges: list[tuple[int, int]] = []
        self.calls: list[End] = []
        self.requests: list[End] = []
        # For each answering end: where it is, what it was tied to, and as what.
        self.ties: list[tuple] = []
        self.orphans: set[int] = set()
        self.closings: list[tuple] = []
        self.runs = self._number_runs(facts, whole_response=whole_response)
        for position, fact in enumerate(facts):
            self.run = self.runs[position]
            for ordinal, link in enumerate(fact.ends):
                # A call that is not the model's is none.
                if link.kind != CALL or fact.role == ASSISTANT:
                    self._read(position, ordinal, link)
        self.last_run = max(self.runs, default=0)
        spoken = [at for at, fact in enumerate(facts) if fact.role == ASSISTANT]
        users = [at for at, fact in enumerate(facts) if fact.role == USER]
        self.moved_on = max(users, default=-1) > max(spoken, default=-1)

    def _number_runs(self, facts, *, whole_response):
        runs, run, speaking, before = [], 0, False, None
        for position, fact in enumerate(facts):
            if fact.role == ASSISTANT:
                run += not speaking
                if speaking and (whole_response or facts[before].reasoning):
                    self.edges.append((before, position))
                speaking, before = True, position
            elif fact.role in {USER, TOOL}:
                speaking = False
            runs.append(run)
        return runs

    # --- reading ---------------------------------------------------------------------------------

    def _read(self, position, ordinal, link):
        if link.kind == CALL:
            self.calls.append(End(position, ordinal, link, self.run))
        elif link.kind == RESULT:
            self._read_result(position, ordinal, link)
        elif link.kind == REQUEST:
            self._read_request(position, ordinal, link)
        elif link.kind == ANSWER:
            self._read_answer(position, ordinal, link)
        else:
            parent = self._parent_of(link)
            self._tie(position, ordinal, link, parent, "child")

    def _read_result(self, position, ordinal, link):
        if link.id is None:
            self._close(position, ordinal, link, self._by_name(link), "result")
            return
        call = self._last_known_as(link.family, link.alias) if link.alias else None
        call = call or self._nearest(lambda one: one.family == link.family and one.id == link.id)
        if link.family != FUNCTION:
            call = call or self._last_known_as(link.family, link.id)
        if call:
            self._close(position, ordinal, link, call, "result")
            return
        call = self._foreign(link) or self._nameless(link)
        if call:
            self._close(position, ordinal, link, call, "foreign")
            return
        for keys, earlier in reversed(self.closings):
            if (link.family, link.id) in keys:
                self._tie(position, ordinal, link, earlier, "duplicate")
                return
        self._tie(position, ordinal, link, None, "result")

    def _read_request(self, position, ordinal, link):
        request = End(position, ordinal, link, self.run)
        for earlier in self.requests:
            if earlier.link.id == link.id and earlier.answer is None:
                earlier.answer = position
        self.requests.append(request)
        if link.alias is None:
            return
        request.partner = self._nearest(
            lambda one: one.family == link.family and one.id == link.alias
        )
        if not request.partner and link.family == FUNCTION:
            # The request stands for the call that it embeds.
            embedded = Link(CALL, FUNCTION, link.alias, link.name)
            request.partner = End(position, ordinal, embedded, self.run)
            self.calls.append(request.partner)
            return
        request.partner = request.partner or self._last_closed(link.family, link.alias)
        if request.partner:
            self.edges.append((request.partner.message, position))

    def _read_answer(self, position, ordinal, link):
        asked = [one for one in self.requests if one.link.id == link.id]
        if not asked and link.alias is not None:
            asked = [one for one in self.requests if one.link.alias == link.alias]
        request = asked[-1] if asked else None
        self._tie(position, ordinal, link, request, "answer")
        if request is None:
            return
        request.answer = position
        if link.state == REJECTED and request.partner and request.partner.answer is None:
            request.partner.answer = position

    # --- looking ---------------------------------------------------------------------------------

    def _open(self):
        return [call for call in self.calls if call.answer is None]

    def _nearest(self, fits):
        found = [call for call in self._open() if fits(call.link)]
        runs = [call.run for call in found]
        return next((call for call in found if call.run == max(runs)), None)

    def _last_known_as(self, family, known_as):
        found = [
            call
            for call in self.calls
            if call.link.alias is not None
            and (call.link.family, call.link.alias) == (family, known_as)
        ]
        return found[-1] if found and found[-1].answer is None else None

    def _by_name(self, link):
        for call in self._open():
            names = {call.link.name, link.name} - {None}
            if call.run == self.run and call.link.family == link.family and len(names) < 2:
                return call
        return None

    def _foreign(self, link):
        if link.family not in CLIENT_FAMILIES:
            return None
        for family in CLIENT_FAMILIES:
            call = self._nearest(lambda one, f=family: one.family == f and one.id == link.id)
            if call:
                return call
        return None

    def _nameless(self, link):
        """A call without an id for a result that has one: by name, or where there is but one."""
        found = [
            call
            for call in self._open()
            if call.run == self.run and call.link.id is None and call.link.family == link.family
        ]
        if link.name is not None:
            found = [call for call in found if call.link.name == link.name][:1]
        return found[0] if len(found) == 1 else None

    def _last_closed(self, family, one):
        found = [call for keys, call in self.closings if (family, one) in keys]
        return found[-1] if found else None

    def _parent_of(self, link):
        if link.family == "mcp":
            asked = [one for one in self.requests if one.link.id == link.id]
            if asked:
                return asked[-1]
        if link.id is None:
            return None
        call = self._nearest(lambda one: one.family == link.family and one.id == link.id)
        return call or self._last_closed(link.family, link.id)

    # --- noting ----------------------------------------------------------------------------------

    def _tie(self, position, ordinal, link, end, how):
        self.ties.append((position, ordinal, end.place if end else None, how))
        if end is None:
            self.orphans.add(position)
        else:
            self.edges.append((end.message, position))

    def _close(self, position, ordinal, link, call, how):
        self._tie(position, ordinal, link, call, how)
        if call is not None and link.state != INTERIM:
            call.answer = position
            keys = {(link.family, link.id), (call.link.family, call.link.id)}
            if call.link.alias is not None:
                keys.add((call.link.family, call.link.alias))
            self.closings.append((keys, call))

    # --- what follows ----------------------------------------------------------------------------

    def components(self, more=()):
        """Return for each position the first position of its group."""
        names = list(range(self.count))
        for _ in range(self.count):
            before = list(names)
            for one, other in [*self.edges, *more]:
                least = min(names[one], names[other])
                names = [least if name in {names[one], names[other]} else name for name in names]
            if names == before:
                break
        return names

    def waiting(self):
        """Return what nothing answered, and whether something still can."""
        pending = [
            request
            for request in self.requests
            if request.answer is None
            and (request.partner is None or request.partner.answer is None)
        ]
        asked = [request.partner for request in pending]
        current = None if self.moved_on else self.last_run
        found = {
            call.place: call.run == current or any(call is one for one in asked)
            for call in self._open()
        }
        return found | {request.place: True for request in pending}
