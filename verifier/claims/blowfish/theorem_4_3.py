"""blowfish-2014, Theorem 4.3: parallel composition under constraints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

from blowproof.models import (
    Clause,
    Count,
    Database,
    Domain,
    Exact,
    Known,
    Labels,
    Literal,
    Policy,
    setting,
)
from blowproof.models.policy.readings import Reading
from blowproof.verifier.claims.blowfish.section_4 import secret_moves
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Claim, Formula, Instance, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.listings import most_changed
from blowproof.verifier.claims.stating.measures import Shown
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS"]


def _facts() -> list[Known]:
    """Return constraints on two records with the values v, w, x: clauses and answered counts."""
    regions = [["v"], ["w"], ["v", "w"], ["x"]]
    single = [Clause([Literal(record, {"a": region})]) for record in (1, 2) for region in regions]
    double = [
        Clause([Literal(1, {"a": one}), Literal(2, {"a": two})])
        for one, two in product(regions, repeat=2)
    ]
    counts: list[Known] = [
        Count({"a": region}, answer=answer) for region in regions[:3] for answer in (0, 1)
    ]
    return [*single, *double, *counts]


def _constrained(most: int) -> Iterator[Instance]:
    from blowproof.models.secrets import Edges

    domain = Domain(a=Labels("vwx"))
    facts = _facts()
    for edges in some.graphs(3):
        secrets = Edges([({"a": "vwx"[x]}, {"a": "vwx"[y]}) for x, y in edges])
        for many in range(1, most + 1):
            for known in combinations(facts, many):
                policy = Policy(
                    domain=domain, secrets=secrets, known=known, database=Database(size=2)
                )
                shape = f"{len(edges)} secret pairs, {many} constraints"
                yield Instance(shape=shape, policy=policy, parameters={"n": 2})


CONSTRAINED = family(
    "3 values, every graph up to renaming, two records in two parts, every one or two of 30 "
    "constraints (clauses on one or both records, counts)",
    lambda: _constrained(1),
    lambda: _constrained(2),
)


def _affects(policy: Policy, fact: Known, record: int, *, alone: bool) -> bool:
    """Whether some secret pair of a record is critical to a constraint.

    `alone`: the two databases differ in that record only; else they may differ elsewhere too, as
    long as no other secret pair is among the differences (the definition to the letter).
    """
    bare = replace(policy, known=(fact,))
    satisfied = setting(bare, "given").satisfied_by
    world = list(product(list(policy.domain.points()), repeat=2))
    for first in world:
        if not satisfied(first):
            continue
        for second in world:
            secret = secret_moves(policy, first, second)
            if {place for place, _ in secret} != {record} or satisfied(second):
                continue
            if not alone or sum(x != y for x, y in zip(first, second, strict=True)) == 1:
                return True
    return False


def _splits(policy: Policy, *, alone: bool) -> bool:
    """Whether every constraint affects one part at the most, so that the Q_i can cover Q."""
    return all(
        not (_affects(policy, fact, 0, alone=alone) and _affects(policy, fact, 1, alone=alone))
        for fact in policy.known
    )


def _parts_4_3() -> tuple[Part, ...]:
    def part(name: str, condition: Formula, reading: Reading, *, amended: bool = False) -> Part:
        return Part(
            name=name,
            family=CONSTRAINED,
            claimed=condition,
            measure=Shown(lambda item: most_changed(item.the_policy, reading, 2)),
            relation="<=",
            reading=reading,
            answers="given",
            amended=amended,
        )

    def covering(*, alone: bool) -> Formula:
        return lambda item: 1 if _splits(item.the_policy, alone=alone) else None

    return (
        part("to the letter: the Q_i may be empty", lambda item: 1, "published"),
        part("the Q_i cover Q", covering(alone=False), "published"),
        part("the Q_i cover Q, one record differs in crit", covering(alone=True), "published"),
        part(
            "the Q_i cover Q, one record differs in crit",
            covering(alone=True),
            "secret-moves",
            amended=True,
        ),
    )


THEOREM_4_3 = Claim(
    id="blowfish-2014/theorem-4.3",
    source="Section 4.1, Theorem 4.3",
    quote="if there exist disjoint subsets",
    statement="Parallel composition costs max epsilon_i if there are disjoint Q_1, ..., Q_p "
    "inside Q such that the constraints in Q_i only affect the records of part i.",
    read_as="The Q_i need not make up all of Q, as printed; crit(q) as defined before it.",
    parts=_parts_4_3(),
    repaired="If every changed record makes a secret move, and Q is the disjoint union of Q_1, "
    "..., Q_p (each constraint affects one part at the most), where in crit(q) the two databases "
    "differ in one record.",
    explanation="Nothing says that the Q_i together are all of Q. With all of them empty the "
    "condition holds for every policy, also for the one just before it in the paper, where the "
    "numbers of males and females are known and parallel composition fails. If they have to cover "
    "Q, one gap remains as Definition 4.1 is printed: crit(q) looks at secret pairs only, but a "
    "constraint may also be repaired by a plain move of a record in another part, and then "
    "neighbours differ in two parts.",
    proof="Let D1, D2 be neighbours that differ in the parts A and B, by secret moves alone. "
    "Apply the moves of A to D1, one after the other: constraints that A does not affect stay "
    "satisfied. Undo those of B in D2: the same for constraints that B does not affect. Both lead "
    "to the same database, and each constraint is of one kind, so it is in I_Q: D1 and D2 were "
    "not minimal.",
)


def _two_components(most: int) -> Iterator[Instance]:
    from blowproof.models import PartitionCells

    for size in range(2, most + 1):
        for cut in range(1, size):
            domain = some.table(size)
            inside, outside = list(range(1, cut + 1)), list(range(cut + 1, size + 1))
            cells = PartitionCells([{"a": inside}, {"a": outside}])
            for answer in (0, 1, 2):
                known = (Count({"a": inside}, answer=answer),)
                policy = Policy(
                    domain=domain, secrets=cells, known=known, database=Database(size=2)
                )
                yield Instance(shape=f"{size} values, S has {cut}", policy=policy)


COMPONENTS = family(
    "2 to 5 values, every S at the lower end, n = 2, q_S = 0, 1, 2",
    lambda: _two_components(3),
    lambda: _two_components(5),
)


def _critical(instance: Instance, *, alone: bool) -> Exact:
    """Return 1 if some secret pair is critical to q_S (which T \\ S's count mirrors), else 0."""
    policy = instance.the_policy
    return int(
        any(
            _affects(policy, fact, record, alone=alone)
            for fact in policy.known
            for record in (0, 1)
        )
    )


TWO_COMPONENTS = Claim(
    id="blowfish-2014/section-4.1-two-components",
    source="Section 4.1, example at its end",
    quote="results in no loss of privacy",
    statement="If G falls into S and T - S and both counts are known, no secret pair is critical "
    "to them, and parallel composition costs nothing.",
    read_as="crit(q) literally by its definition, which compares databases that need not satisfy "
    "Q.",
    parts=(
        counted(
            "crit(q_S) is empty, by the printed definition",
            COMPONENTS,
            lambda item: 0,
            lambda item: _critical(item, alone=False),
        ),
        counted(
            "neighbours differ in one record",
            COMPONENTS,
            lambda item: 1 if item.the_policy.graph.edge_count else None,
            lambda item: max(1, most_changed(item.the_policy, "published", 2)[0]),
            small="privacy",
        ),
        replace(
            counted(
                "crit(q_S) is empty, if only the record in question differs",
                COMPONENTS,
                lambda item: 0,
                lambda item: _critical(item, alone=True),
            ),
            amended=True,
        ),
    ),
    repaired="With crit(q) defined by two databases that differ in one record.",
    amendment="condition",
    explanation="The definition of crit(q) asks that the two databases differ in one secret pair, "
    "and leaves plain changes free. Another record may move from S to T - S, which is no secret, "
    "and change q_S: then every secret pair is critical. The conclusion of the example is right.",
    proof="No secret pair crosses from S to T - S, so a secret move keeps both counts.",
)


CLAIMS = (THEOREM_4_3, TWO_COMPONENTS)
