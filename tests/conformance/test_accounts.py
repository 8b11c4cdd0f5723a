"""The account of a broken history, word by word: what was found, changed, kept as it was before."""

import accounts
import pytest

import lockstitch as ls

ROWS = accounts.rows()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_account_of_a_broken_history_is_the_approved_one(row):
    told = accounts.tell(row)
    for name in row["told"].keys() | told.keys():
        assert told.get(name) == row["told"].get(name), f"{name}: if meant, run `make approve`"


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_every_mend_of_a_broken_history_says_whether_it_changed_anything(row):
    assert ls.repair(row["source"], **row["options"])


def test_every_account_has_a_name_of_its_own():
    assert len({row["id"] for row in ROWS}) == len(ROWS)
