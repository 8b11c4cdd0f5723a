"""Sessions under whatever several handles do to them, in any order."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lockstitch import check
from lockstitch.formats import FORMATS
from lockstitch.grouping import group
from lockstitch.rules.profiles import get_profile
from lockstitch.stores.memory import MemoryBackend, MemoryDriver
from lockstitch.stores.showing import ties_of
from lockstitch.stores.store import Store
from lockstitch.strategies import StepsHistoryStrategy
from lockstitch.testing import assistant, call, result, user

handles = st.integers(0, 2)
numbers = st.integers(0, 5)


class Sessions(RuleBasedStateMachine):
    """Three handles on one session, and a fourth that has just been made."""

    @initialize(
        limit=st.sampled_from((None, 1, 2, 3, 5, 8, 20)),
        cut=st.sampled_from(("groups", "prefix")),
        low_water=st.sampled_from((None, 1.0)),
        profile=st.sampled_from(("portable", "openai-chat")),
    )
    def begin(self, limit, cut, low_water, profile):
        self.limit, self.profile = limit, profile
        self.store = Store(MemoryDriver(MemoryBackend()))
        self.options = {"profile": profile, "format": "openai-chat"}
        if limit is not None:
            strategy = StepsHistoryStrategy(max_messages=limit, low_water=low_water, cut=cut)
            self.options["strategy"] = strategy
        self.handles = [self.fresh() for _ in range(3)]
        self.sent = []
        self.calls = 0
        self.waiting = []
        self.forks = 0

    def fresh(self):
        return self.store.session("s", **self.options)

    def append(self, handle, messages, key=None):
        receipt = self.handles[handle].append(messages, key=key)
        assert (receipt.first, receipt.count) == (len(self.sent) + 1, len(messages))
        self.sent += messages

    # --- appends ---------------------------------------------------------------------------------

    @rule(handle=handles, count=st.integers(1, 4))
    def somebody_talks(self, handle, count):
        said = [user, assistant]
        start = len(self.sent)
        self.append(handle, [said[at % 2](f"m{start + at}") for at in range(count)])

    @rule(handle=handles, count=st.integers(1, 3), reuse=st.booleans())
    def somebody_calls(self, handle, count, reuse):
        ids = []
        for _ in range(count):
            self.calls += 1
            ids.append(f"c{self.calls % 3 if reuse else self.calls}")
        ids = list(dict.fromkeys(ids))
        self.append(handle, [call(*ids)])
        self.waiting += ids

    @precondition(lambda self: self.waiting)
    @rule(handle=handles, which=numbers, more=st.booleans())
    def a_result_comes(self, handle, which, more):
        id = self.waiting.pop(which % len(self.waiting))
        self.append(handle, [result(id, f"r{len(self.sent)}"), *([assistant()] if more else [])])

    @rule(handle=handles)
    def a_result_of_nothing_comes(self, handle):
        self.append(handle, [result("nothing"), user(f"m{len(self.sent)}")])

    @rule(handle=handles)
    def a_batch_is_sent_twice(self, handle):
        key = f"k{len(self.sent)}"
        first = len(self.sent) + 1
        self.append(handle, [user(f"m{len(self.sent)}")], key)
        again = self.handles[handle - 1].append([user("again")], key=key)
        assert (again.replayed, again.first, again.count) == (True, first, 1)

    # --- changes ---------------------------------------------------------------------------------

    @rule(handle=handles, to=st.integers(0, 40))
    def somebody_goes_back(self, handle, to):
        if self.sent:
            self.handles[handle].rewind(to % (len(self.sent) + 1))

    @rule(handle=handles)
    def somebody_takes_back(self, handle):
        taken = self.handles[handle].pop()
        assert len(taken) <= len(self.sent)

    @rule(handle=handles, which=numbers)
    def somebody_edits(self, handle, which):
        window = self.handles[handle].window()
        seqs = [
            seq
            for seq, one in zip(window.seqs, window, strict=True)
            if seq and one["role"] == "user"
        ]
        seqs = [seq for seq in seqs if self.sent[seq - 1]["role"] == "user"]
        if seqs:
            new = user(f"m{len(self.sent)}")
            receipt = self.handles[handle].edit(seqs[which % len(seqs)], new)
            self.sent.append(new)
            assert receipt.first == len(self.sent)

    @rule(handle=handles)
    def somebody_clears(self, handle):
        self.handles[handle].clear()

    @rule(handle=handles, keep=st.integers(0, 6))
    def somebody_summarises(self, handle, keep):
        self.handles[handle].compact(lambda _: "so far", keep_recent=keep)

    @rule(at=st.integers(0, 40))
    def somebody_forks(self, at):
        if self.sent:
            at %= len(self.sent) + 1
            self.forks += 1
            fork = self.store.session(self.fresh().fork(f"fork {self.forks}", at=at))
            assert [one.message for one in fork.record()] == self.sent[:at]
            assert fork.verify() == []

    @rule(handle=handles)
    def somebody_looks(self, handle):
        self.handles[handle].window()

    # --- what holds ------------------------------------------------------------------------------

    @invariant()
    def the_record_is_what_was_appended(self):
        record = list(self.fresh().record())
        assert [one.message for one in record] == self.sent
        for one in record:
            assert one.state in {"shown", "changed", "hidden", "dropped"}
            assert one.reason or one.state not in {"dropped", "hidden"}, one

    @invariant()
    def the_window_is_what_the_target_takes(self):
        chat = self.fresh()
        for tail in ("open", "closed"):
            window = chat.window(tail=tail)
            assert self.limit is None or len(window) <= self.limit
            if window:
                errors = check(
                    list(window), profile=self.profile, format="openai-chat", tail=tail
                ).errors
                assert not [one for one in errors if one.index >= 0], (errors, list(window))
        again = self.fresh().window()
        assert again == chat.window()
        assert again.seqs == chat.window().seqs

    @invariant()
    def the_view_holds_no_half_of_a_group(self):
        chat = self.fresh()
        states = chat.run(chat.effects.states())
        if states.view is None:
            return
        there = [one for one in states.view.entries if one.seq]
        facts = [one.meta.facts for one in there]
        ties = ties_of(FORMATS["openai-chat"], get_profile(self.profile))
        names = group(facts, 0, ties).names
        for at, one in enumerate(there):
            asks = set(facts[at].asks)
            answered = {
                id
                for other, name in enumerate(names)
                if name == names[at]
                for id in facts[other].answers
            }
            # Of a call that is shown, every answer that there ever was to it is in the view.
            if self.limit is not None and asks <= answered:
                assert names.count(names[at]) >= 1 + len(asks), one

    @invariant()
    def nothing_is_wrong_with_it(self):
        assert self.fresh().verify() == []


TestSessions = Sessions.TestCase
TestSessions.settings = settings(
    settings.default,
    max_examples=max(10, settings.default.max_examples // 3),
    stateful_step_count=20,
)
