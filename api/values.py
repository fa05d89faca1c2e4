"""What comes back: answers, pairs of databases and verdicts, with values instead of positions.

Each holds what the verifier said, and shows it as the command line does: `print` draws the same
text, `to_json()` is the document of `--json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from blowproof.models import Exact, Policy, Value
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.verifier.asked import answer as said

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blowproof.cli.audit.audited import Audited
    from blowproof.cli.audit.from_others import Held
    from blowproof.cli.releasing.check import Checked
    from blowproof.mechanisms.release.release import Released
    from blowproof.models.files.opendp_context import OpenDPContext
    from blowproof.models.mechanisms.mechanism import Mechanism
    from blowproof.verifier.certify.base import verdict as certified
    from blowproof.verifier.odds.base import answer as largest

__all__ = ["Answer", "Audit", "Check", "Claims", "Pair", "Record", "Release", "Verdict"]

Record = tuple[Value, ...]
"""The values of one record, in the order of the policy's domain."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two neighbouring databases: the records that change, and those that do not.

    `before[i]` becomes `after[i]`; in the readings `add-remove` and `markov`, `before` are the
    records removed and `after` those added. `unchanged` are the others, each with how many there
    are. Where it matters which record is which, `records` has the numbers (from 1) of those that
    change.
    """

    before: tuple[Record, ...]
    after: tuple[Record, ...]
    unchanged: tuple[tuple[Record, int], ...]
    records: tuple[int, ...] | None = None
    _of: tuple[Policy, said.Pair, Reading] = field(repr=False, compare=False)

    @staticmethod
    def of(policy: Policy, pair: said.Pair, reading: Reading) -> Pair:
        """Return the pair with the values of the policy's domain."""
        decode = policy.domain.decode
        return Pair(
            before=tuple(map(decode, pair.before)),
            after=tuple(map(decode, pair.after)),
            unchanged=tuple((decode(point), times) for point, times in pair.unchanged),
            records=None if pair.records is None else tuple(at + 1 for at in pair.records),
            _of=(policy, pair, reading),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the pair as the JSON of `sensitivity` and `neighbours` has it."""
        policy, pair, _ = self._of
        return pair.to_json(policy.domain)

    def __str__(self) -> str:
        from blowproof.cli.text.pairs import pair_parts

        return _drawn(pair_parts(*self._of))

    def _repr_html_(self) -> str:
        policy, pair, _ = self._of
        return pair.to_html(policy.domain)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """S(f, P): the most by which a query changes between neighbours, or bounds on it.

    `lower` and `upper` are equal unless `status` is "bounds" ("proved": a certificate was checked;
    "exact": the search ended); `upper` is None where nothing bounds S. `witness` is a pair of
    neighbours whose answers differ by `lower`. Calibrate noise to `upper`. `decided_by` says of
    each bound ("lower", "upper") who found it, and why it holds.
    """

    lower: Exact
    upper: Exact | None
    status: said.Status
    witness: Pair | None
    policy: str
    query: str
    norm: str
    reading: Reading
    answers: Answers
    notes: tuple[str, ...] = ()
    decided_by: tuple[tuple[str, str, str], ...] = field(default=(), repr=False, compare=False)
    engine: str = field(repr=False, compare=False)
    seconds: float = field(repr=False, compare=False)
    _of: tuple[Policy, said.Answer] = field(repr=False, compare=False)

    @staticmethod
    def of(policy: Policy, found: said.Answer, *notes: str) -> Answer:
        """Return the answer with the values of the policy's domain, and with further notes."""
        pair = found.witness
        return Answer(
            lower=found.lower,
            upper=found.upper,
            status=found.status,
            witness=None if pair is None else Pair.of(policy, pair, found.reading),
            policy=found.policy,
            query=found.query,
            norm=found.norm,
            reading=found.reading,
            answers=found.answers,
            notes=(*found.notes, *notes),
            decided_by=found.decided_by,
            engine=found.engine,
            seconds=found.seconds,
            _of=(policy, found),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the document of `blowproof sensitivity --json`."""
        policy, found = self._of
        return {**found.to_json(policy.domain), "notes": list(self.notes)}

    def __str__(self) -> str:
        from blowproof.cli.text.answer import answer_parts

        return _drawn(answer_parts(*self._of))

    def _repr_html_(self) -> str:
        policy, found = self._of
        return found.to_html(policy.domain)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether a mechanism is private: `verdict` is "proved", "refuted" or "undecided".

    `loss` is what epsilon (or rho, where that was promised) really is, over all neighbours: exact,
    "inf", or None where only `lower` and `upper` are known (a channel: where it is not rational;
    `to_json()` has e^loss). `witness` is the pair of neighbours that it tells apart best.
    """

    verdict: str
    epsilon: Fraction | None
    rho: Fraction | None
    delta: Fraction | None
    loss: certified.Loss | None
    lower: certified.Loss | None
    upper: certified.Loss | None
    witness: Pair | None
    notes: tuple[str, ...] = ()
    _of: tuple[Mechanism, Policy, certified.Certified] = field(repr=False, compare=False)

    @staticmethod
    def of(mechanism: Mechanism, policy: Policy, found: certified.Certified) -> Verdict:
        """Return the verdict with the values of the policy's domain."""
        pair = found.witness
        return Verdict(
            verdict=found.verdict,
            epsilon=found.promise.epsilon,
            rho=found.promise.rho,
            delta=found.promise.delta,
            loss=found.loss,
            lower=found.lower,
            upper=found.upper,
            witness=None if pair is None else Pair.of(policy, pair, found.reading),
            notes=found.notes,
            _of=(mechanism, policy, found),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the document of `blowproof certify --json`."""
        _, policy, found = self._of
        return found.to_json(policy.domain)

    def __str__(self) -> str:
        from blowproof.cli.text.certify_screen import certify_parts

        return _drawn(certify_parts(*self._of))


@dataclass(frozen=True, kw_only=True)
class Odds:
    """What an attacker learns: `verdict` is "within", "exceeded" or "undecided".

    `lower` and `upper` bound the largest odds ratio, as expressions (`upper` may be None); `prior`,
    `secret` and `output` are the attacker who shows the lower one; `composition` says, if asked,
    whether releases compose linearly: "proved", "refuted" or "open".
    """

    verdict: str
    epsilon: Fraction
    lower: str
    upper: str | None
    prior: Any
    secret: tuple[str, ...]
    output: Any
    notes: tuple[str, ...] = ()
    composition: str | None = None
    _of: largest.Odds = field(repr=False, compare=False)

    @staticmethod
    def of(found: largest.Odds) -> Odds:
        """Return what the command says."""
        shown = found.shown
        return Odds(
            verdict=found.verdict,
            epsilon=found.epsilon,
            lower=found.lower.text,
            upper=None if found.upper is None else found.upper.text,
            prior=None if shown is None else shown.prior,
            secret=() if shown is None else shown.secret,
            output=None if shown is None else shown.output,
            notes=found.notes,
            composition=None if found.composition is None else found.composition.linear,
            _of=found,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the document of `blowproof odds --json`."""
        return self._of.to_json()

    def __str__(self) -> str:
        from blowproof.cli.text.odds_screen import odds_parts

        return _drawn(odds_parts(self._of))


@dataclass(frozen=True, kw_only=True)
class Check:
    """What the checker says of a certificate: `accepted`, or `reason` why not.

    `claim` is what was proved, S = `value`; `compared` is what is known to be yours (policy, query,
    file, data), `not_compared` what is taken from the certificate.
    """

    accepted: bool
    reason: str
    claim: str
    value: Exact | None
    kind: str
    compared: tuple[str, ...]
    not_compared: tuple[str, ...]
    _of: Checked = field(repr=False, compare=False)

    @staticmethod
    def of(found: Checked) -> Check:
        """Return what was found, in plain values."""
        verdict, document = found.verdict, found.to_json()
        return Check(
            accepted=found.accepted,
            reason=found.reason,
            claim=verdict.claim,
            value=verdict.value if verdict.accepted else None,
            kind=verdict.kind,
            compared=tuple(document.get("compared", ())),
            not_compared=tuple(document.get("not_compared", ())),
            _of=found,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the document of `blowproof check --json`."""
        return self._of.to_json()

    def __str__(self) -> str:
        if not self.accepted:
            return f"rejected: {self.reason}"
        return f"accepted: {self.claim}; {self._of.words}\nproof {self.kind}"


@dataclass(frozen=True, kw_only=True)
class Release:
    """A private release: `rows` has, for each answer, the values it is about and the answer last.

    `columns` names them. Answers are exact numbers, or floats where they are estimates made from
    noisy ones. `notes` say what the noise rests on, and what is left of the budget.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Value | float, ...], ...]
    epsilon: Fraction | None
    rho: Fraction | None
    mechanism: str
    notes: tuple[str, ...]
    _of: Released = field(repr=False, compare=False)

    @staticmethod
    def of(found: Released) -> Release:
        """Return what was released, in plain values."""
        from blowproof.mechanisms.release.publish import answer_column

        names = found.answers.names
        rows = zip(names.rows(), found.answers, strict=True)
        return Release(
            columns=(*names.columns, answer_column(found)),
            rows=tuple((*values, answer) for values, answer in rows),
            epsilon=found.request.promise.epsilon,
            rho=found.request.rho,
            mechanism=found.mechanism,
            notes=found.notes,
            _of=found,
        )

    @property
    def values(self) -> tuple[Value | float, ...]:
        """The answers alone, in the order of the rows."""
        return tuple(row[-1] for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return the document of `blowproof release --json`."""
        return {**self._of.to_json(), "released": True}

    def __str__(self) -> str:
        from blowproof.cli.releasing.released_text import release_parts

        return _drawn(release_parts(self._of, None))


class Audit:
    """The whole story of a policy: one `Answer` for each query, under the reading that decides.

    `enough` says whether the planned noise (a claimed S, a scale, a mechanism) is: True, False, or
    None where that is open, or where nothing was planned and S is known by bounds only.
    `to_json()` is the document of `blowproof audit --json`, with all that `print` shows.
    """

    def __init__(self, found: Audited) -> None:
        self._found = found
        self.answers = tuple(Answer.of(found.policy, each.verdict) for each in found.findings)
        self.enough = {0: True, 1: False}.get(int(found.code))

    def to_json(self) -> dict[str, Any]:
        """Return the document of `blowproof audit --json`."""
        from blowproof.cli.audit.shown.json_document import audit_document

        return audit_document(self._found)

    def to_html(self) -> str:
        """Return the page of `blowproof audit --html`, which needs no network."""
        from blowproof.cli.report.page import page

        return page(self.to_json(), _version())

    def __repr__(self) -> str:
        return f"Audit(answers={self.answers!r}, enough={self.enough!r})"

    def __str__(self) -> str:
        from blowproof.cli.audit.shown.screen import audit_parts

        return _drawn(audit_parts(self._found))


class Claims:
    """What another library's claim really is: for each query and reading, with a pair.

    `enough` says whether the claim holds in every one of them (None where that is open). `held` has
    (query, reading, what is claimed, what it is at least, what it is at the most or None).
    """

    def __init__(self, context: OpenDPContext, found: Sequence[Held], code: int) -> None:
        self._found = context, found
        self.enough = {0: True, 1: False}.get(code)
        self.held = tuple(
            (item.query, item.reading, item.claimed, item.lower, item.upper) for item in found
        )

    def to_json(self) -> dict[str, Any]:
        """Return the document of `blowproof audit --from opendp --json`."""
        from blowproof.cli.audit.from_others import context_document

        return context_document(*self._found)

    def __repr__(self) -> str:
        return f"Claims(held={self.held!r}, enough={self.enough!r})"

    def __str__(self) -> str:
        from blowproof.cli.audit.from_others import context_parts

        return _drawn(context_parts(*self._found))


def _version() -> str:
    from importlib.metadata import version

    return version("blowproof")


def _drawn(parts: Iterable[RenderableType]) -> str:
    """Return what the command line draws, without colours."""
    from blowproof.cli.text.output import drawn

    return drawn(parts, plain=True).rstrip("\n")
