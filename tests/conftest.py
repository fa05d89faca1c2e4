"""Hypothesis profiles: every run draws the same examples, however slow the machine.

No test sees the ledgers of whoever runs it: each has a store of its own.
"""

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("ci")


@pytest.fixture(scope="session")
def stores(tmp_path_factory):
    """A folder for the stores of all tests, and a counter."""
    return tmp_path_factory.mktemp("stores"), iter(range(10**9))


@pytest.fixture(autouse=True)
def own_store(stores, monkeypatch):
    """The place of this test's own store: its folder is created when something is spent."""
    folder, numbers = stores
    place = folder / str(next(numbers)) / "ledger.sqlite"
    monkeypatch.setenv("BLOWPROOF_LEDGER", str(place))
    monkeypatch.setenv("BLOWPROOF_STATE", str(place.parent))
    return place
