"""From an exact answer to a proved one: a certificate, accepted by the kernel in this process."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from blowproof.models import BoundQuery, BudgetError, Exact, InternalError, Policy, setting
from blowproof.models.base.clock import now
from blowproof.models.files.writing import digest
from blowproof.models.stacks.stacked import Stacked
from blowproof.verifier.asked.answer import Answer, json_number
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.kernel import Unreadable, Verdict, check
from blowproof.verifier.kernel.check import alone, least_of, lower_bound, world_of
from blowproof.verifier.kernel.document import MOST_STEPS, Budget, Rejected
from blowproof.verifier.kernel.policy import SECRETS
from blowproof.verifier.kernel.query import ARGUMENTS
from blowproof.verifier.kernel.world import Effects, World
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.proofs.branching import by_cases
from blowproof.verifier.proofs.cells import based, bases
from blowproof.verifier.proofs.claim import claim_of, digest_of, query_table
from blowproof.verifier.proofs.graver import gravers
from blowproof.verifier.proofs.implied import implied
from blowproof.verifier.proofs.irreducible import trees
from blowproof.verifier.proofs.irreducible_parts import parted
from blowproof.verifier.proofs.lengths.beside import beside
from blowproof.verifier.proofs.lengths.circuits import circuits
from blowproof.verifier.proofs.lengths.ends import ends
from blowproof.verifier.proofs.lengths.tables import tables
from blowproof.verifier.proofs.limits import limits
from blowproof.verifier.proofs.margins import margins, rounds
from blowproof.verifier.proofs.merged import merged_proofs
from blowproof.verifier.proofs.one_sided import one_sided
from blowproof.verifier.proofs.without_choice import (
    determined,
    every_database,
    exchanges,
    four_cells,
    secret_arc,
    simple_cycles,
    single_moves,
)

__all__ = ["Certificate", "certify_answer"]

ENOUGH = 10**15
PROOF_SECONDS = real_limit(__name__, "PROOF_SECONDS")
CHECKING = real_limit(__name__, "CHECKING")
IMPLIED = whole_limit(__name__, "IMPLIED")
SHORT = whole_limit(__name__, "SHORT")
ENDS = whole_limit(__name__, "ENDS")
FEW_CELLS = whole_limit(__name__, "FEW_CELLS")
LISTING_STEPS = whole_limit(__name__, "LISTING_STEPS")
THEOREM_STEPS = whole_limit(__name__, "THEOREM_STEPS")
BOTH = "both bounds are proved: a certificate of them was checked"
"""What is said of bounds with a certificate."""
LISTINGS = ("every-database", "four-cells")
"""Proofs without a search of ours: they are tried with fewer steps first."""


@dataclass(frozen=True)
class Certificate:
    """A certificate that the kernel accepted, or why there is none."""

    document: dict[str, Any] | None
    reason: str = ""
    seconds_writing: float = 0.0
    seconds_checking: float = 0.0
    verdict: Verdict | None = None

    @property
    def kind(self) -> str:
        """The kind of proof, "" without one."""
        return "" if self.verdict is None else self.verdict.kind

    @property
    def text(self) -> str:
        """The certificate as JSON."""
        return json.dumps(self.document, separators=(",", ":")) + "\n"


def certify_answer(
    policy: Policy, query: BoundQuery, answer: Answer, *, time_limit: float | None = None
) -> tuple[Answer, Certificate]:
    """Return the answer, "proved" if a certificate for it was found and accepted, and that.

    What the kernel accepted must be about this policy, query, reading, scope and value.

    Of bounds both are certified, by a theorem and without a search: the status stays "bounds". An
    answer for which no kind of proof is found comes back as it was, with the reason. A certificate
    that is complete and refused is a bug of ours: InternalError.
    """
    if answer.upper is None:
        return answer, Certificate(None, "nothing bounds the answer from above")
    unknown = _unknown(policy, query)
    if unknown:
        return answer, Certificate(None, f"the kernel knows no {unknown}")
    start = time.perf_counter()
    limit = PROOF_SECONDS if time_limit is None else time_limit
    found = _Writer(policy, query, answer, limit).write()
    total = time.perf_counter() - start
    found = replace(found, seconds_writing=total - found.seconds_checking)
    if found.document is None or found.verdict is None:
        return answer, found
    if not _answers(found.verdict, policy.with_answers(answer.answers), query, answer):
        raise InternalError("the kernel accepted a certificate for another question")
    if answer.status == "bounds":
        notes = (*answer.notes, BOTH)
        return replace(answer, notes=notes, proof=found.verdict), found
    return replace(answer, status="proved", proof=found.verdict), found


def _unknown(policy: Policy, query: BoundQuery) -> str:
    """Return what of the question is not in the kernel: kinds that were added since."""
    if policy.secrets.kind not in SECRETS:
        return f"secrets of the kind {policy.secrets.kind}"
    stacked = query.parts if isinstance(query, Stacked) else ()
    if any(not part.uniform and not part.query.name.startswith("sum(") for part in stacked):
        return "list of weights but for sums of attributes"
    for item in [part.query for part in stacked] or [query]:
        kind = item.name.partition("(")[0]
        if kind not in ARGUMENTS:
            return f"query {kind}"
    return ""


def _answers(told: Verdict, policy: Policy, query: BoundQuery, answer: Answer) -> bool:
    """Whether the kernel spoke about this very question, and answered it so."""
    digests = dict(told.digests)
    about = (digests.get("policy"), digests.get("query"), told.norm, told.reading, told.answers)
    table = digest_of(query_table(query, policy))
    asked = (digest(policy), table, query.measure.name, answer.reading, answer.answers)
    bounds = (answer.query, answer.upper, answer.lower)
    return about == asked and (query.name, told.value, told.least) == bounds


class _Writer:
    """One answer, and the proofs to try for it, cheapest first."""

    def __init__(self, policy: Policy, query: BoundQuery, answer: Answer, limit: float) -> None:
        self.searches = answer.status != "bounds"  # else a search of the same has not ended
        self.limit, self.deadline = limit, time.monotonic() + limit
        prepared = prepare(setting(policy, answer.answers), answer.reading)
        self.prepared, self.query = prepared, query
        self.claim = {**claim_of(policy, query, answer, prepared), "tools": _tools()}
        told = implied(prepared, now() + limit / IMPLIED)
        if told:
            self.claim["implied"] = told
        self.in_l1 = self.claim
        """What the kinds of proof are about that know l1 alone."""
        self.reasons: list[str] = []

    def write(self) -> Certificate:
        """Return the first certificate that the kernel accepts."""
        try:
            world, value = world_of(self.claim, self._budget(ENOUGH))
            lower_bound(world, self.claim, least_of(self.claim, value))
        except Rejected as reason:
            if reason.limit:
                return Certificate(None, str(reason))
            raise InternalError(f"the kernel refuses the claim or the witness: {reason}") from None
        except Unreadable as reason:
            return Certificate(None, f"the claim cannot be written for the kernel: {reason}")
        try:
            found = self._accepted(world, value)
        except Rejected as reason:  # the time is up
            self.reasons.append(str(reason))
            found = None
        why = "; ".join(dict.fromkeys(self.reasons)) or "no kind of proof fits the question"
        return Certificate(None, why) if found is None else found

    def _accepted(self, world: World, value: Exact) -> Certificate | None:
        """Return the first proof that the kernel accepts; a proof that was found has time for it,
        a part of what all have.
        """
        tried: set[str] = set()
        for proof in self._proofs_in_norm(world, value):
            document = {**self.claim, "proof": proof}
            start = time.perf_counter()
            short = proof["kind"] in LISTINGS and proof["kind"] not in tried
            tried.add(proof["kind"])
            seconds = max(self._left, self.limit * CHECKING)
            verdict = check(document, LISTING_STEPS if short else MOST_STEPS, seconds)
            took = time.perf_counter() - start
            if verdict.accepted:
                return Certificate(document, seconds_checking=took, verdict=verdict)
            self.reasons.append(f"{proof['kind']}: {verdict.reason}")
        return None

    def _proofs_in_norm(self, world: World, value: Exact) -> Iterator[dict[str, Any]]:
        """Yield proofs for the norm; of one output, those about l1 say it."""
        norm = world.query.measure
        if norm == "l1" or not world.query.single:
            yield from self._proofs(world, value)
        elif norm == "range":
            yield {"kind": "single"}  # one output has range 0, whatever is said
        else:
            size = alone(norm, value)
            self.in_l1 = {**self.claim, "norm": "l1", "value": json_number(size)}
            yield from self._proofs(self._fresh(), size)

    def _proofs(self, world: World, value: Exact) -> Iterator[dict[str, Any]]:
        """Yield proofs that fit the question."""
        given, four = world.policy.scope == "given", world.reading == "markov"
        mixed = world.reading == "published" and not world.free
        yield from single_moves(self._fresh(), value)
        yield from self._unless_too_large(self._theorems(value))
        if not self.searches:
            if four:
                yield from four_cells(world)
            elif world.query.weights is None:
                yield from self._without_search(value)
            return
        if four:
            yield from four_cells(world)
            yield from self._unless_too_large(self._cases(value, self._left / 2))
            yield from four_cells(world)
        elif world.query.weights is None:
            yield from self._by_cells(value)
            end = self._left / ENDS
            spread = ends(self._fresh(), value, lambda moves: trees(moves, end))
            yield from self._unless_too_large(spread)
            loose = bool(world.bounds or world.policy.clauses)
            share = SHORT if loose else 1 + mixed
            yield from self._unless_too_large(self._irreducibles(value, self._left / share))
        yield from every_database(world)
        if four:
            return
        if given and world.policy.clauses:
            yield from self._unless_too_large(self._merged(value))
        elif given or mixed:
            yield from self._unless_too_large(self._cases(value, self._left))

    def _unless_too_large(self, proofs: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield proofs of some kinds until numbers are too large for a search; others are left."""
        try:
            yield from proofs
        except BudgetError as refusal:
            self.reasons.append(str(refusal).partition("\n")[0])

    def _theorems(self, value: Exact) -> Iterator[dict[str, Any]]:
        """Yield proofs without a search, or with one that depends on the sizes of a table alone.

        Each is tried as far as the kernel would go.
        """

        def world() -> World:
            return world_of(self.in_l1, self._budget(THEOREM_STEPS))[0]

        try:
            for proofs in (determined, exchanges, rounds, secret_arc, one_sided):
                yield from proofs(world(), value)
            yield from limits(world(), value, self.prepared, self.query, now() + self._left)
            if not any(based(world(), value)):  # which is shorter, and comes later
                yield from beside(world(), value, bases)
                yield from margins(world(), value, self._left)
                yield from circuits(world(), value)
                yield from tables(world(), value)
        except Rejected as reason:
            self.reasons.append(f"a theorem: {reason}")

    @property
    def _left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def _fresh(self) -> World:
        return world_of(self.in_l1, self._budget(ENOUGH))[0]

    def _budget(self, steps: int) -> Budget:
        """Return so many steps, and the time that is left."""
        return Budget(steps, ENOUGH, self._left)

    def _irreducibles(self, value: Exact, limit: float) -> Iterator[dict[str, Any]]:
        """Yield proofs for questions whose neighbours are irreducible multisets of moves."""
        try:
            world = world_of(self.in_l1, self._budget(MOST_STEPS))[0]
            moves = Effects(world)  # as far as the kernel would go
            world.budget.left = ENOUGH
            claim = moves.measure.claim(value, moves.scale)
            if moves.idle > claim:
                return
            yield from simple_cycles(moves, claim)
            if world.labelled:
                yield from based(self._fresh(), value)
            found = False
            for proof in self._searches(moves, claim, limit):
                found = True
                yield proof
            if not found:
                ended = f"did not end in {limit:.3g} s" if limit > 0 else "had no time left"
                self.reasons.append(f"the search for a proof {ended}")
        except Rejected as reason:
            self.reasons.append(f"irreducible: {reason}")

    def _without_search(self, value: Exact) -> Iterator[dict[str, Any]]:
        """Yield what is looked at before a search, and only where the kernel would not tire."""
        try:
            if self._fresh().labelled:
                yield from based(world_of(self.in_l1, self._budget(MOST_STEPS))[0], value)
            moves = Effects(world_of(self.in_l1, self._budget(MOST_STEPS))[0])
            yield from simple_cycles(moves, moves.measure.claim(value, moves.scale))
        except Rejected as reason:
            self.reasons.append(f"without a search: {reason}")

    def _by_cells(self, value: Exact) -> Iterator[dict[str, Any]]:
        """Yield proofs by cells before anything that looks at every two of many cells."""
        try:
            world = world_of(self.in_l1, self._budget(MOST_STEPS))[0]
            world.by_position(single=True)
            if world.labelled and (world.apart or len(world.classes()[0]) > FEW_CELLS):
                yield from based(self._fresh(), value)
        except Rejected as reason:
            self.reasons.append(f"cells: {reason}")

    def _searches(self, moves: Effects, claim: int, limit: float) -> Iterator[dict[str, Any]]:
        """Yield proofs by search; where moves add or remove, long ones after Graver bases."""
        end = time.monotonic() + limit
        if moves.world.reading == "add-remove":
            yield from parted(moves, claim, limit / SHORT)
            yield from gravers(moves, claim, end)
        yield from parted(moves, claim, max(0.0, end - time.monotonic()))

    def _merged(self, value: Exact) -> Iterator[dict[str, Any]]:
        """Yield proofs for clauses, the records that they need merged into one move."""
        try:  # as far as the kernel would go
            world = world_of(self.in_l1, Budget(MOST_STEPS, seconds=self._left))[0]
            yield from merged_proofs(world, value, self.deadline)
        except Rejected as reason:
            self.reasons.append(f"merged: {reason}")

    def _cases(self, value: Exact, limit: float) -> Iterator[dict[str, Any]]:
        return by_cases(self._fresh(), value, limit, self.reasons)


@cache
def _tools() -> dict[str, str]:
    """The versions of what took part."""
    import platform

    found = {"python": platform.python_version()}
    for name in ("blowproof", "numba", "numpy", "ortools", "python-sat"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
