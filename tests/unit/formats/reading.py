"""How a history of one format is read: what the tests of the formats ask in the same way."""

from lockstitch.document import open_document
from lockstitch.grouping import group
from lockstitch.transcript import Transcript


class Reading:
    """Questions about histories of one format."""

    def __init__(self, format_):
        self.format = format_

    def transcript(self, messages):
        return Transcript(open_document(messages), self.format)

    def groups(self, messages):
        return group(self.transcript(messages).facts_from(0))

    def members(self, messages):
        return [one.members for one in self.groups(messages)]

    def states(self, messages):
        return [one.state for one in self.groups(messages)]

    def pairs(self, messages):
        """Which call each answer was given to, both as (position, place among the links)."""
        found = self.groups(messages).pairing.ties
        return [
            (one.message, one.ordinal, one.call and (one.call.message, one.call.ordinal))
            for one in found
        ]
