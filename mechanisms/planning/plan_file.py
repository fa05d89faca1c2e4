"""Plans as files: what was compared, what was chosen, and for which policy, queries and data.

`release --plan FILE` makes the chosen option ready again, and refuses where anything differs: the
policy, a query or a file that it names, the data (where the plan was made with them), or the noise.
So what is drawn is what the plan says, and nothing else.

Which data a plan is for is told by a fingerprint under a key that stays on this machine
(`budget/fingerprints`): a plan may be handed round, and nobody can check a guess of the records by
it. So it is carried out where it was made. Plans of earlier versions, which hold a plain digest,
are compared by that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.budget.fingerprints import another_key, fingerprint
from blowproof.mechanisms.combining.joint import Joint
from blowproof.mechanisms.kinds.together import Together
from blowproof.mechanisms.planning.advice import Advice
from blowproof.mechanisms.planning.planner import Planned
from blowproof.mechanisms.planning.workload import Workload, workload
from blowproof.mechanisms.release.gate import proved
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.release import Plan, Request, noise_json
from blowproof.models import DataError, Policy, QueryError, exact, show
from blowproof.models.base.door import NUMBERS_BYTES, FileError, read_bytes
from blowproof.models.data.content import content_of
from blowproof.models.files.writing import digest
from blowproof.verifier.asked.answer import Answer, json_number
from blowproof.verifier.certify.base.promise import Promise

__all__ = ["SCHEMA", "PlanFile", "document", "query_digest", "read_plan", "ready"]

SCHEMA = "blowproof/plan/1"
MOST_BYTES = 50_000_000
QUOTES = "\"'"
OTHER_POLICY = "the policy is another one, or an earlier version"
OTHER_KEY = (
    "it was made on another machine, or by another user: the key by which its data could be "
    "compared is not here; nothing was drawn and nothing spent\n"
    "  try: blowproof plan, once more and here; or a plan without DATA, which goes with any"
)
PLAIN = re.compile("[0-9a-f]{64}")
"""The digest of data in plans of earlier versions."""


def query_digest(texts: Sequence[str], policy: Policy) -> str:
    """Return the SHA-256 of queries: their texts, and what stands in the files that they name."""
    parts: list[str] = []
    for text in texts:
        parts.append(text)
        for word in text.partition("(")[2].rstrip(")").split(","):
            name = word.strip().strip(QUOTES)
            found = _file(name, policy)
            if found is not None:
                parts.append(sha256(read_bytes(found, most=NUMBERS_BYTES)).hexdigest())
    return sha256(json.dumps(parts).encode("utf-8")).hexdigest()


def _file(name: str, policy: Policy) -> Path | None:
    """Return the file of a name, here or beside the policy; None where there is none."""
    places = [Path(name), *([] if policy.folder is None else [Path(policy.folder) / name])]
    for place in places if name else ():
        try:
            if place.is_file():
                return place
        except (OSError, ValueError):
            continue
    return None


def document(
    planned: Planned, *, data: str | None = None, advice: Sequence[Advice] | None = None
) -> dict[str, Any]:
    """Return a plan as `blowproof plan --json` writes it; `data`: the fingerprint of those that it
    was made for.
    """
    request, work = planned.request, planned.workload
    bound = planned.bound
    return {
        "schema": SCHEMA,
        "policy": request.policy.name,
        "reading": request.reading,
        "answers": request.policy.with_answers(request.answers).scope,
        "epsilon": show(request.epsilon) if request.rho is None else None,
        "rho": None if request.rho is None else show(request.rho),
        "workload": [
            {"query": text, "weight": show(weight)}
            for text, weight in zip(work.texts, work.weights, strict=True)
        ],
        "digests": {
            "policy": digest(request.policy),
            "queries": query_digest(work.texts, request.policy),
            "data": data,
        },
        "options": [option.to_json() for option in planned.options],
        "chosen": 0 if planned.options else None,
        "lower_bound": {
            "rmse": bound,
            "together": None if planned.together is None else planned.together.to_json(),
            "queries": [
                {"query": query.name, **({"rmse": None} if found is None else found.to_json())}
                for query, found in zip(work.queries, planned.bounds, strict=True)
            ],
        },
        "sensitivities": [
            {"query": query.name, **({} if found is None else _bounds(found))}
            for query, found in zip(work.queries, planned.sensitivities, strict=True)
        ],
        "differential_privacy": list(planned.plain),
        "refused": [item.to_json() for item in planned.refused],
        "notes": list(planned.notes),
        **({} if advice is None else {"advice": [item.to_json() for item in advice]}),
    }


def _bounds(found: Answer) -> dict[str, Any]:
    """Return what is known of S: where nothing answers, how much noise it would take."""
    return {
        "norm": found.norm,
        "lower": json_number(found.lower),
        "upper": None if found.upper is None else json_number(found.upper),
        "status": found.status,
    }


@dataclass(frozen=True)
class PlanFile:
    """What a plan file says is to be drawn."""

    path: str
    promise: Promise
    reading: str
    answers: str
    workload: Workload
    option: Mapping[str, Any]
    digests: Mapping[str, Any]

    def require_same(self, policy: Policy, data: str) -> None:
        """Refuse another policy, other queries or other data than the plan was made for."""
        self._same("policy", digest(policy), OTHER_POLICY)
        asked = query_digest(self.workload.texts, policy)
        self._same("queries", asked, "a file that a query names differs")
        told = self.digests.get("data")
        if told is None:
            return
        plain = PLAIN.fullmatch(str(told))
        now = content_of(data).digest if plain else fingerprint(data)
        if not plain and another_key(str(told), now):
            raise DataError(f"{self.path}: {OTHER_KEY}")
        self._same("data", now, "it was made for other data")

    def _same(self, what: str, now: str, why: str) -> None:
        if self.digests.get(what) != now:
            raise _another(self.path, what, why)


def read_plan(path: str, policy: Policy) -> PlanFile:
    """Return the plan in a file, its queries bound to the policy; refuse what is no plan."""
    try:
        found = json.loads(read_bytes(path, most=MOST_BYTES).decode("utf-8"))
        if found["schema"] != SCHEMA:
            raise KeyError("schema")
        option = found["options"][found["chosen"]]
        asked = found["workload"]
        texts = [str(item["query"]) for item in asked]
        weights = [Fraction(exact(item["weight"], key="weight")) for item in asked]
        key = "epsilon" if found.get("rho") is None else "rho"
        promise = Promise(**{key: Fraction(exact(found[key], key=key))})
        rest = promise, str(found["reading"]), str(found["answers"])
        digests = dict(found["digests"])
    except FileError as error:
        raise DataError(f"{path}: cannot be read ({error.reason})") from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise DataError(
            f"{path}: this is no plan of `blowproof plan`, or it chose nothing"
            "\n  try: blowproof plan POLICY DATA --query Q --epsilon E --output plan.json"
        ) from None
    if digests.get("policy") != digest(policy):  # its queries may have no meaning here
        raise _another(path, "policy", OTHER_POLICY)
    return PlanFile(path, *rest, workload(texts, weights, policy), option, digests)


def _another(path: str, what: str, why: str) -> DataError:
    return DataError(
        f"{path}: {why} (the digests of the {what} differ): nothing was drawn and "
        "nothing spent\n  try: blowproof plan, once more"
    )


def ready(plan_file: PlanFile, request: Request) -> Plan:
    """Return the chosen option made ready again; refuse where its noise is not what is written."""
    option, work = plan_file.option, plan_file.workload
    now_asked = request.reading, request.policy.with_answers(request.answers).scope
    if now_asked != (plan_file.reading, plan_file.answers):
        raise DataError(
            f"{plan_file.path}: it was made for the reading {plan_file.reading} and answers "
            f"{plan_file.answers}: nothing was drawn and nothing spent\n"
            f"  try: --reading {plan_file.reading} --answers {plan_file.answers}"
        )
    try:
        how, joint, written = _shares(option), _joint(option), option["noise"]
    except (KeyError, TypeError, AttributeError, ValueError):
        raise DataError(f"{plan_file.path}: the chosen option is not complete") from None
    plan = _plan(how, joint, work, _at(request, plan_file.promise))
    description = plan.description
    now = None if description is None else [noise_json(item) for item in description]
    if now != written:
        answer = plan.sensitivity  # bounds of a search that was stopped depend on its time
        longer = answer is None or not (answer.final or answer.status != "bounds")
        raise RefusedError(
            f"{plan_file.path}: the noise would not be what the plan says: nothing was drawn and "
            "nothing spent\n  try: blowproof plan, once more"
            + (", or a longer --time-limit" if longer else "")
        )
    return plan


def _at(request: Request, promise: Promise) -> Request:
    return replace(request, epsilon=promise.epsilon or Fraction(0), rho=promise.rho)


@dataclass(frozen=True)
class _Share:
    """How some queries are released (None: the one there is), and for which part of the budget."""

    mechanism: str
    options: Mapping[str, str]
    queries: Sequence[str] | None = None
    budget: Fraction = Fraction(0)


def _shares(option: Mapping[str, Any]) -> list[_Share]:
    """Return what an option says about each part of the release."""
    name, settings = str(option["mechanism"]), option["settings"]
    if name != Together.name:
        return [_Share(name, _options(settings))]
    return [
        _Share(
            str(item["mechanism"]),
            _options(item["settings"]),
            [str(query) for query in item["queries"]],
            Fraction(exact(item["budget"], key="budget")),
        )
        for item in settings["releases"]
    ]


def _options(settings: Mapping[str, Any]) -> dict[str, str]:
    return {str(key): str(value) for key, value in settings.items()}


def _joint(option: Mapping[str, Any]) -> list[str]:
    """Return the queries that are fitted together."""
    return [str(name) for name in option["settings"].get("joint", [])]


def _plan(shares: Sequence[_Share], joint: Sequence[str], work: Workload, request: Request) -> Plan:
    if shares and shares[0].queries is None:
        asked = replace(request, query=work.queries[0], options=shares[0].options)
        return made_ready(shares[0].mechanism, asked)
    how = {name: share for share in shares for name in share.queries or ()}
    total = sum((share.budget for share in shares), Fraction(0))
    return _all(work, how, joint, total, request)


def _require_within(together: Together, total: Fraction, request: Request) -> None:
    """Refuse shares that lose more than the budget. Their sum alone may be more than it: what
    several releases lose together is often less.
    """
    try:
        proved(together)
    except RefusedError as error:
        budget = request.epsilon if request.rho is None else request.rho
        if total <= budget:
            raise
        raise RefusedError(
            f"the split adds up to {show(total)}, the budget is {show(budget)}, and what is drawn "
            "is not proved to lose no more than that: nothing was drawn and nothing spent"
            "\n  try: smaller shares, or blowproof plan once more"
        ) from error


def _all(
    work: Workload,
    how: Mapping[str, _Share],
    joint: Sequence[str],
    total: Fraction,
    request: Request,
) -> Plan:
    plans = []
    for query in work.queries:
        if query.name not in how:
            raise QueryError(f"the plan does not say how {query.name} is released")
        share = how[query.name]
        part = Promise(share.budget) if request.rho is None else Promise(rho=share.budget)
        asked = replace(_at(request, part), query=query, options=share.options)
        plans.append(made_ready(share.mechanism, asked))
    names = [query.name for query in work.queries]
    if not set(joint) <= set(names):
        raise QueryError("the plan fits a query that it does not ask for")
    fitted = [at for at, name in enumerate(names) if name in joint]
    together = Joint(request, plans, fitted) if fitted else Together(request, plans)
    _require_within(together, total, request)
    return together
