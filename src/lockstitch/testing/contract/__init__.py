"""The contract of stores, as tests: `lockstitch.testing.stores` puts them together."""
