"""Measures: how large a message is, in messages, characters and tokens."""
