"""Every case of the corpus, by every engine that answers it."""

import pytest

from blowproof.models import BudgetError, QueryError, setting
from blowproof.verifier.answers import Pair
from blowproof.verifier.feasible import prepare
from blowproof.verifier.pairs import check_pair
from blowproof.verifier.questions import ENGINES, Engine, sensitivity
from corpus import CORPUS, PAIRS, Case, KnownPair


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_engines_agree_with_the_corpus(case: Case, engine: Engine) -> None:
    try:
        answer = sensitivity(
            case.policy,
            case.query,
            reading=case.reading,
            engine=engine,
            max_size=3,
            time_limit=60 if engine == "auto" else 3,
        )
    except (BudgetError, QueryError) as refusal:
        if engine == "auto":
            raise
        pytest.skip(str(refusal))
    assert answer.lower <= case.answer
    if answer.status == "exact" or engine == "auto":
        assert answer.lower == answer.upper == case.answer
    assert (answer.witness is None) == (answer.lower == 0)
    if answer.witness is not None:
        prepared = prepare(setting(case.policy), case.reading)
        assert check_pair(prepared, case.reading, answer.witness)


@pytest.mark.parametrize("known", PAIRS, ids=lambda known: known.name)
def test_the_checker_knows_the_pairs_of_the_papers(known: KnownPair) -> None:
    encode = known.policy.domain.encode
    pair = Pair(before=tuple(map(encode, known.before)), after=tuple(map(encode, known.after)))
    found = check_pair(setting(known.policy), known.reading, pair)
    assert bool(found) == known.neighbours, found.reason
