"""The model of a commit against an oracle that only remembers which commits it carried out."""

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lockstitch.stores.base import Change, Commit, Key, Row, Version
from lockstitch.stores.commit import commit

KEY = Key("t", "s")


class ModelOfACommit(RuleBasedStateMachine):
    """What is stored follows from the commits that were carried out, in their order."""

    def __init__(self):
        super().__init__()
        self.ledger = None
        self.done = []  # the commits that were stored, in order
        self.sent = []
        self.count = 0
        self.seen = [None]
        self.now = 0.0

    # --- the oracle ------------------------------------------------------------------------------

    def _rows(self):
        return [(row.meta, row.payload, one.mark) for one in self.done for row in one.rows]

    def _version(self):
        if not self.done:
            return None
        revision = sum(one.change is not None for one in self.done)
        return Version(self.done[0].epoch, revision, len(self._rows()))

    def _expected(self, sent):
        here = self._version()
        if here is None:
            if sent.exclusive and sent.expected is not None:
                return "conflict"
            return "stored" if sent.rows or sent.settings is not None else "gone"
        if any(
            one.idempotency is not None and one.idempotency == sent.idempotency for one in self.done
        ):
            return "replayed"
        if sent.rows and any(one.mark == sent.mark and one.rows for one in self.done):
            # Known by its mark among what came since it looked.
            known = sent.expected
            since = known.seq if known and known.epoch == here.epoch else 0
            marks = [mark for _, _, mark in self._rows()][since:]
            if sent.mark in marks:
                return "replayed"
        return "conflict" if sent.exclusive and sent.expected != here else "stored"

    # --- what is done ----------------------------------------------------------------------------

    @rule(
        count=st.integers(0, 3),
        stale=st.integers(0, 3),
        key=st.sampled_from((None, None, "a", "b")),
        exclusive=st.booleans(),
        head=st.sampled_from((None, False, True)),
        settings=st.sampled_from((None, None, b"other")),
        blind=st.booleans(),
    )
    def commits(self, *, count, stale, key, exclusive, head, settings, blind):
        expected = None if blind else self.seen[max(-1 - stale, -len(self.seen))]
        number = self.count = self.count + 1
        rows = tuple(Row(b"m%d" % number, b"p%d.%d" % (number, at)) for at in range(count))
        change = None
        if head is not None:
            through = (expected.seq if expected else 0) + (count if head else 0)
            change = Change(head=b"h%d" % number, ranges=(), through=through, strict=head)
        self._send(
            Commit(
                key=KEY,
                mark=f"mark{number}",
                expected=expected,
                rows=rows,
                idempotency=key,
                exclusive=exclusive,
                change=change,
                settings=settings,
                epoch=f"epoch{number}",
            )
        )

    @rule(back=st.integers(1, 5))
    def sends_again(self, back):
        if self.sent and self.sent[-min(back, len(self.sent))].rows:
            self._send(self.sent[-min(back, len(self.sent))])

    def _send(self, sent):
        wanted = self._expected(sent)
        before = self._version()
        self.now += 1
        self.ledger, done = commit(self.ledger, sent, self.now)
        assert done.outcome == wanted
        if done.outcome == "stored":
            first = before.seq + 1 if before else 1
            assert (done.first, done.count) == (first, len(sent.rows))
            holds = sent.change is not None and self._holds(sent, before)
            assert done.changed == holds
            kept = sent if holds or sent.change is None else _without_change(sent)
            self.done.append(kept)
            same = before is None or (
                sent.expected is not None
                and (sent.expected.epoch, sent.expected.revision) == (before.epoch, before.revision)
            )
            if before is not None and same:
                news = [row.seq for row in done.now.rows]
                assert news == list(range(sent.expected.seq + 1, before.seq + 1))
                assert done.now.head is None
            assert all(row.payload is None for row in done.now.rows)
        elif done.outcome == "replayed":
            earlier = next(
                one
                for one in self.done
                if (sent.idempotency is not None and one.idempotency == sent.idempotency)
                or one.mark == sent.mark
            )
            at = self.done.index(earlier)
            assert done.first == sum(len(one.rows) for one in self.done[:at]) + 1
            assert done.count == len(earlier.rows)
        assert done.now.version == self._version()
        self.sent.append(sent)
        self.seen.append(done.now.version)

    def _holds(self, sent, before):
        known = sent.expected
        if before is None or known is None:
            return False
        if (known.epoch, known.revision) != (before.epoch, before.revision):
            return False
        return not sent.change.strict or known.seq == before.seq

    @rule()
    def is_deleted(self):
        self.ledger = None
        self.done = []
        self.sent = []  # sent again, one of these would name its life as the other was named

    # --- what holds ------------------------------------------------------------------------------

    @invariant()
    def the_record_is_what_was_stored(self):
        if self.ledger is not None:
            found = [(row.meta, row.payload, row.mark) for row in self.ledger.rows]
            assert found == self._rows()
            assert [row.seq for row in self.ledger.rows] == list(range(1, len(found) + 1))
            assert self.ledger.size == sum(len(payload) for _, payload, _ in found)
            assert self.ledger.version == self._version()

    @invariant()
    def the_newest_head_is_the_head(self):
        heads = [one.change for one in self.done if one.change is not None]
        if self.ledger is not None:
            assert self.ledger.head == (heads[-1].head if heads else b"")
            view = self.ledger.reading(None, self.ledger.seq, payloads=True)
            through = heads[-1].through if heads else 0
            assert [row.seq for row in view.rows] == list(range(through + 1, self.ledger.seq + 1))


def _without_change(sent):
    return msgspec.structs.replace(sent, change=None)


TestModelOfACommit = ModelOfACommit.TestCase
TestModelOfACommit.settings = settings(settings.default, stateful_step_count=30)
