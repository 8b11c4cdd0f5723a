"""Stores: what keeps something outside the process, such as payloads taken out of a history."""
