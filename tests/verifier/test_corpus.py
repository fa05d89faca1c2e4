"""Every case of the corpus, by every engine that answers it."""

from functools import partial

import pytest

from blowproof.models import BudgetError, QueryError, parse_query, setting
from blowproof.verifier.ask import ENGINES, Engine, sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.portfolio.registry import named
from corpus import CORPUS, PAIRS, Case, KnownPair

TOO_LARGE = {("brute", "example-survey")}
"""Questions that an engine could answer, and that are too large for it."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_engines_agree_with_the_corpus(case: Case, engine: Engine) -> None:
    """Every engine answers every question that it does not refuse by its own rules."""
    ask = partial(
        sensitivity, case.policy, case.query, reading=case.reading, engine=engine, max_size=3
    )
    if refused(case, engine) or (engine, case.name) in TOO_LARGE:
        with pytest.raises((BudgetError, QueryError)):
            ask(time_limit=3)
        return
    answer = ask(time_limit=60 if engine == "auto" else 3)
    assert answer.lower <= case.answer
    if answer.status == "exact" or engine == "auto":
        assert answer.lower == answer.upper == case.answer
    assert (answer.witness is None) == (answer.lower == 0)
    if answer.witness is not None:
        prepared = prepare(setting(case.policy), case.reading)
        assert check_pair(prepared, case.reading, answer.witness)


def refused(case: Case, engine: Engine) -> str:
    """Return why an engine says, before it begins, that a question is none for it."""
    if engine == "auto":
        return ""
    prepared = prepare(setting(case.policy), case.reading)
    question = Question(prepared, parse_query(case.query, case.policy), case.reading)
    return named(engine).refuses(question)


@pytest.mark.parametrize("known", PAIRS, ids=lambda known: known.name)
def test_the_checker_knows_the_pairs_of_the_papers(known: KnownPair) -> None:
    encode = known.policy.domain.encode
    pair = Pair(before=tuple(map(encode, known.before)), after=tuple(map(encode, known.after)))
    found = check_pair(setting(known.policy), known.reading, pair)
    assert bool(found) == known.neighbours, found.reason
