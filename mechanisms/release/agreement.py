"""Do the data agree with the policy? Asked before anything is drawn or spent.

A policy's impossible values and, under scope "given", its numbers are taken for facts by every
sensitivity. Data that contradict them are no database of I_Q, and no guarantee would cover them.

A refusal costs nothing and can be asked for again, under other policies too. So it says which fact
the data break, and never how many records do, or what the data count: one bit about the data, which
whoever sets the policy and sees the refusal learns. It goes to the owner of the data, and is to be
kept from anybody else. (Errors about a single row that cannot be read name the row and its text,
for the owner to mend it, and no number of rows either.)
"""

from __future__ import annotations

from blowproof.models import DataError, Impossible, LinearFact, Marginal, Policy, Setting, setting
from blowproof.models.data.dataset import Dataset
from blowproof.models.policy.policy import Answers

__all__ = ["require_agreement"]


def require_agreement(policy: Policy, answers: Answers | None, data: Dataset) -> None:
    """Raise a DataError that names the first fact which the data contradict."""
    found = setting(policy, answers)
    _check_impossible(policy, data)
    if found.scope == "given":
        if found.size is not None and found.size != data.size:
            _refuse(data, "size", "the data do not have as many records")
        _check_counts(found, data)
        _check_clauses(policy, data)


def _check_impossible(policy: Policy, data: Dataset) -> None:
    zeros = [
        (f"known[{place}]", policy.domain.area(fact.where))
        for place, fact in enumerate(policy.known)
        if isinstance(fact, Impossible)
    ]
    held = data.counts([area for _, area in zeros])
    for (name, _), count in zip(zeros, held, strict=True):
        if count:
            _refuse(data, name, "some records hold values that it calls impossible")


def _check_counts(found: Setting, data: Dataset) -> None:
    """Compare every number; a whole marginal is one GROUP BY."""
    cells = _marginal_cells(found.policy, data)
    facts = [fact for fact in (*found.equalities, *found.bounds) if _has_number(fact)]
    areas = [area for fact in facts if fact.name not in cells for _, area in fact.terms]
    counts = iter(data.counts(areas))
    for fact in facts:
        total = cells.get(fact.name)
        if total is None:
            total = sum(times * next(counts) for times, _ in fact.terms)
        if not fact.holds(total):
            _refuse(data, fact.name, f"they do not count {_says(fact)}")


def _marginal_cells(policy: Policy, data: Dataset) -> dict[str, int]:
    result: dict[str, int] = {}
    for place, fact in enumerate(policy.known):
        if isinstance(fact, Marginal):
            names = [cell.name for cell in fact.bind(policy.domain, f"known[{place}]")]
            counts = data.marginal(policy.domain.axes(fact.attributes))
            result.update(zip(names, counts, strict=True))
    return result


def _has_number(fact: LinearFact) -> bool:
    return any(end is not None for end in (fact.answer, fact.at_least, fact.at_most))


def _says(fact: LinearFact) -> str:
    if fact.answer is not None:
        return str(fact.answer)
    ends = (("at least", fact.at_least), ("at most", fact.at_most))
    return " and ".join(f"{word} {end}" for word, end in ends if end is not None)


def _check_clauses(policy: Policy, data: Dataset) -> None:
    if policy.clauses:
        records = data.records()
        for clause in policy.clauses:
            if max(clause.records) >= len(records) or not clause.holds(records):
                _refuse(data, clause.name, "the records do not satisfy the clause")


def _refuse(data: Dataset, name: str, what: str) -> None:
    raise DataError(
        f"{data.path}: the data contradict the policy's {name}: {what}\n"
        "  try: correct the policy or the data; nothing was released and nothing spent"
    )
