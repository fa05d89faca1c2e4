"""Facts that no database satisfies are found, and a smallest contradictory set is named."""

from pathlib import Path

import pytest

from blowproof.models import ContradictionError
from blowproof.models.files.reading import read_policy
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.databases.consistency import check_consistent

FOLDER = Path(__file__).parents[2] / "policies"
CONTRADICTORY = sorted((FOLDER / "contradictory").glob("*.toml"))
VALID = sorted((FOLDER / "valid").glob("*.toml"))


@pytest.mark.parametrize("path", CONTRADICTORY, ids=lambda path: path.stem)
def test_a_smallest_contradictory_set_is_named(path: Path) -> None:
    expected = path.read_text().splitlines()[0].removeprefix("# expects:")
    policy = read_policy(path)
    with pytest.raises(ContradictionError) as caught:
        check_consistent(policy)
    assert set(caught.value.facts) == {fact.strip() for fact in expected.split(",")}
    with pytest.raises(ContradictionError):
        sensitivity(policy)


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_valid_policies_have_databases(path: Path) -> None:
    check_consistent(read_policy(path))
