"""Rules: what a target accepts, as data, and the checks that find where a history breaks it."""
