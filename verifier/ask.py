"""The questions one asks of a policy: `sensitivity` and `neighbours`.

>>> from blowproof.models import Count, Domain, Integers, Labels, Policy
>>> domain = Domain(sex=Labels(["F", "M"]), age=Integers(0, 1))
>>> policy = Policy(domain=domain, known=(Count({"sex": "F"}),))
>>> answer = sensitivity(policy, engine="brute", max_size=2)
>>> answer.lower, answer.upper, answer.status
(4, None, 'bounds')
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from blowproof.models import (
    BoundQuery,
    BudgetError,
    Exact,
    Policy,
    QueryError,
    Setting,
    UndeterminedError,
    setting,
)
from blowproof.models.base.clock import Budget, now
from blowproof.models.base.numbers import plain
from blowproof.models.norms import L1, Norm
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.models.stacks.stacked import Stacked, in_norm
from blowproof.models.stacks.written import parse_question
from blowproof.verifier import plan
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.names import ENGINES, Engine
from blowproof.verifier.asked.question import Listener, Progress, Question
from blowproof.verifier.databases.consistency import prepare, size_range
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.engines.few_databases import are_few, listed_neighbours
from blowproof.verifier.engines.histograms.listing import (
    histogram_neighbours,
    numbered_neighbours,
    relabelled,
)
from blowproof.verifier.portfolio.problem import Problem
from blowproof.verifier.reductions.common_factor import asked_without_factor, factor_of
from blowproof.verifier.reductions.one_output import asked_in_l1, is_one_output, size_of
from blowproof.verifier.theorems.most_moves import Ceiling, ceiling

if TYPE_CHECKING:
    from blowproof.verifier.proofs.write import Certificate

__all__ = [
    "ENGINES",
    "Engine",
    "Listener",
    "Problem",
    "Progress",
    "certified",
    "explain",
    "neighbours",
    "sensitivity",
    "upper_bound",
]


def sensitivity(  # noqa: PLR0913 # keyword-only options
    policy: Policy | Problem,
    query: BoundQuery | str = "histogram",
    *,
    norm: Norm | str | None = None,
    reading: Reading = "published",
    answers: Answers | None = None,
    engine: Engine = "auto",
    time_limit: float | None = None,
    max_size: int | None = None,
    listener: Listener | None = None,
    seed: int = 0,
) -> Answer:
    """Return S(f, P) under a reading and a scope, with a checked witness and how sure it is.

    `max_size` is the largest n that engine "brute" runs over under scope "any" (its answer is then
    a lower bound). A policy without databases is a ContradictionError, not an answer of 0. `seed`
    changes the order in which solvers search: an exact answer is the same, its witness may differ.
    `norm` (None: the query's own, l1 for a text) says how changes are measured.
    Questions asked of one `Problem` (in its scope) share what they find.
    """
    problem = policy if isinstance(policy, Problem) else Problem(policy, answers)
    policy = problem.policy

    def ask(question: Question) -> Answer:
        return plan.answer(question, engine, problem=problem)

    with Budget(time_limit):
        question = _question(problem, query, norm, reading, time_limit)
        question = replace(question, max_size=max_size, listener=listener, seed=seed)
        prepared, found = question.setting, _simply(question, ask)
    if prepared.unchecked is not None and found.witness is None:
        doubt = f"whether any database has the known numbers is undecided: {prepared.unchecked}"
        found = replace(found, notes=(*found.notes, doubt))
    return replace(found, domain=policy.domain, norm=question.query.measure.name)


def explain(  # noqa: PLR0913 # keyword-only options
    policy: Policy,
    query: BoundQuery | str = "histogram",
    *,
    norm: Norm | str | None = None,
    reading: Reading = "published",
    answers: Answers | None = None,
    time_limit: float | None = None,
    run: bool = False,
    listener: Listener | None = None,
    begun: Callable[[list[plan.Step]], None] | None = None,
) -> tuple[list[plan.Step], Answer | None]:
    """Return the steps of the plan for a question, in order: what is asked, what not, and why.

    `run`: with what each gave and how long it took, and the answer. `begun` is told the steps
    before they run, for somebody who may not wait for the end; they fill as the run goes on.

    >>> from blowproof.models import Count, Domain, Integers, Labels, Policy
    >>> domain = Domain(sex=Labels(["F", "M"]), age=Integers(0, 1))
    >>> steps, _ = explain(Policy(domain=domain, known=(Count({"sex": "F"}),)))
    >>> [step.strategy.name for step in steps if step.applies and step.strategy.kind == "engine"]
    ['long circuits', 'policy graph', 'search']
    """
    runs: list[plan.Run] = []

    def ask(question: Question) -> Answer:
        runs.append(plan.Run(question))
        for step in runs[0].steps:
            step.size = size
        if begun is not None:
            begun(runs[0].steps)
        return runs[0].answer(time.perf_counter()) if run else question.answer(0, None)

    with Budget(time_limit):
        question = _question(Problem(policy, answers), query, norm, reading, time_limit)
        question = replace(question, listener=listener)
        size = _counted(question.query)
        found = _simply(question, ask)
    found = replace(found, domain=policy.domain, norm=question.query.measure.name)
    return runs[0].steps if runs else [], found if run else None


def _simply(question: Question, ask: Callable[[Question], Answer]) -> Answer:
    """Return the answer to a question that is the same as the one asked, up to a number."""
    return asked_in_l1(question, ask) or asked_without_factor(question, ask) or ask(question)


def _counted(query: BoundQuery) -> Callable[[Exact], Exact] | None:
    """Return what numbers of the question that `_simply` asks are to this one; None: the same."""
    if is_one_output(query):
        return lambda change: size_of(query, change)
    factor = factor_of(query)
    return None if factor == 1 else lambda value: plain(value * factor)


def _question(
    problem: Problem,
    query: BoundQuery | str,
    norm: Norm | str | None,
    reading: Reading,
    time_limit: float | None,
) -> Question:
    """Prepare what is asked, or refuse it."""
    deadline = None if time_limit is None else now() + time_limit
    prepared = problem.setting(reading, deadline=deadline)
    bound = _bound(query, norm, problem.policy)
    if bound.per_record and not is_labelled(reading):
        raise QueryError(
            f"{bound.name} weighs single records, and the reading {reading!r} does not label them\n"
            "  try: --reading published or secret-moves"
        )
    _check_weights(prepared, bound)
    return Question(prepared, bound, reading, deadline)


def _bound(query: BoundQuery | str, norm: Norm | str | None, policy: Policy) -> BoundQuery:
    """Return what is asked, in the norm that is asked for."""
    if isinstance(query, str):
        return parse_question(query, policy, norm or L1)
    return query if norm is None else in_norm(query, norm, policy.domain)


def upper_bound(
    policy: Policy,
    query: BoundQuery,
    *,
    reading: Reading = "published",
    answers: Answers | None = None,
    time_limit: float | None = None,
) -> Ceiling | None:
    """Return what S(f, P) does not exceed, by a theorem and without a search, where one is known.

    >>> from blowproof.models import Count, Domain, Integers, Labels, Policy
    >>> domain = Domain(sex=Labels(["F", "M"]), age=Integers(0, 1))
    >>> policy = Policy(domain=domain, known=(Count({"sex": "F"}),))
    >>> upper_bound(policy, parse_question("histogram", policy)).value
    4
    """
    deadline = None if time_limit is None else now() + time_limit
    prepared = prepare(setting(policy, answers), reading, deadline=deadline)
    return ceiling(Question(prepared, query, reading, deadline))


def _check_weights(prepared: Setting, query: BoundQuery) -> None:
    """Refuse weights of records that are not there. Under scope "any", they say what n is."""
    if isinstance(query, Stacked):
        for part in query.parts:
            _check_weights(prepared, part.query)
    if prepared.scope == "any" or query.records is None:
        return
    if prepared.size not in (None, query.records):
        raise QueryError(
            f"{query.name}: the file has weights for {query.records} records, and the "
            f"databases of this policy have {prepared.size}\n  try: one weight for each record"
        )


def certified(  # keyword-only options
    policy: Policy,
    query: BoundQuery | str = "histogram",
    *,
    norm: Norm | str | None = None,
    reading: Reading = "published",
    answers: Answers | None = None,
    engine: Engine = "auto",
    time_limit: float | None = None,
) -> tuple[Answer, Certificate]:
    """Return S(f, P) and a certificate for it: status "proved" if the kernel accepted one.

    Where no certificate is found, the answer is what `sensitivity` says, and the second part says
    why. The time limit holds for the answer and for the proof, one after the other.

    >>> from blowproof.models import Count, Domain, Integers, Labels, Policy
    >>> domain = Domain(sex=Labels(["F", "M"]), age=Integers(0, 1))
    >>> answer, found = certified(Policy(domain=domain, known=(Count({"sex": "F"}),)))
    >>> answer.lower, answer.status, found.kind
    (4, 'proved', 'cycles')
    """
    from blowproof.verifier.proofs.write import certify_answer

    bound = _bound(query, norm, policy)
    answer = sensitivity(
        policy, bound, reading=reading, answers=answers, engine=engine, time_limit=time_limit
    )
    return certify_answer(policy, bound, answer, time_limit=time_limit)


def neighbours(  # keyword-only options
    policy: Policy,
    *,
    reading: Reading = "published",
    answers: Answers | None = None,
    engine: Engine = "auto",
    every_label: bool = True,
    time_limit: float | None = None,
) -> Iterator[Pair]:
    """Yield every ordered pair (D1, D2) in N(P), scope "given".

    `every_label` False: once up to relabelling of the records (of those that no clause names).
    Pairs come as they are found, each followed by its relabellings; in reading 3 with clauses,
    those of the fewest moves come first. Raises TimeoutError when the time limit cuts the listing.
    """
    deadline = None if time_limit is None else now() + time_limit
    prepared = prepare(setting(policy, answers), reading, deadline=deadline)
    if prepared.scope == "any":
        raise QueryError(
            'under scope "any" there are neighbours for every n\n'
            "  try: --answers given, with a size and answers (or data) in the policy"
        )
    low, high = size_range(prepared, reading)
    if high is None:
        raise UndeterminedError(
            "nothing bounds the number of records, so there is no end of neighbours\n"
            "  try: write size = N under [database]"
        )
    if engine == "brute":
        pairs = brute_neighbours(
            prepared,
            reading,
            sizes=range(low, high + 1),
            every_label=every_label,
            deadline=deadline,
        )
    elif engine == "auto" and _listable(prepared, reading, range(low, high + 1), every_label):
        sizes = range(low, high + 1)
        pairs = listed_neighbours(
            prepared, reading, sizes, every_label=every_label, deadline=deadline
        )
    elif prepared.clauses and is_labelled(reading):
        pairs = _labelled(prepared, reading, deadline, every_label=every_label)
    elif prepared.clauses:
        pairs = numbered_neighbours(prepared, reading, most=high, deadline=deadline)
    else:
        pairs = histogram_neighbours(prepared, reading, most=high, deadline=deadline)
        if every_label:
            pairs = (each for pair in pairs for each in relabelled(pair, reading))
    for pair in pairs:
        yield pair
        if deadline is not None and now() > deadline:
            raise TimeoutError


def _listable(prepared: Setting, reading: Reading, sizes: range, every_label: bool) -> bool:
    """Whether neighbours are listed by brute force; clauses ask for an order, or who is alike."""
    told = not prepared.clauses or (every_label and is_labelled(reading))
    return told and are_few(prepared, reading, sizes)


def _labelled(
    prepared: Setting, reading: Reading, deadline: float | None, *, every_label: bool
) -> Iterator[Pair]:
    """Yield the pairs that engine "sat" lists; TimeoutError where the deadline cuts them."""
    from blowproof.verifier.engines.labelled.engine import labelled_neighbours

    left = None if deadline is None else max(0.0, deadline - now())
    try:
        pairs = labelled_neighbours(prepared, reading, time_limit=left, every_label=every_label)
    except BudgetError as refusal:
        reason = str(refusal).partition("\n")[0]
        raise BudgetError(
            f"clauses name records, and labelled pairs are too many to list here: {reason}\n"
            "  try: a coarser domain, fewer records, or sensitivity, which bounds S"
        ) from refusal
    yield from pairs
    if not pairs.complete:
        raise TimeoutError
