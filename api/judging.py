"""Mechanisms and proofs judged: `certify`, `odds` and `check`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from blowproof.given import File, PolicyLike, called, checked, exactly, go_on, read, session
from blowproof.models import DataError, QueryError
from blowproof.models.mechanisms.mechanism import Mechanism
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.values import Check, Odds, Verdict

if TYPE_CHECKING:
    from blowproof.models import Exact
    from blowproof.verifier.asked.names import Engine

__all__ = ["certify", "check", "odds"]


def certify(  # noqa: PLR0913 # keyword-only options
    mechanism: Mechanism | File | Mapping[str, object],
    policy: PolicyLike,
    epsilon: Exact | str | None = None,
    *,
    rho: Exact | str | None = None,
    delta: Exact | str | None = None,
    reading: Reading = "published",
    answers: Answers | None = None,
    engine: Engine = "auto",
    time_limit: float | None = None,
) -> Verdict:
    """Return whether a mechanism is private under a policy: proved, refuted or undecided in time.

    What it has to keep is an `epsilon`, a `rho` (zCDP), or an `epsilon` with a `delta`.

    The mechanism (its description, the path of a mechanism file, or the tables of one) is judged by
    what it says: what it releases, and with which noise. The loss is exact, over all neighbours.

    Examples:
        >>> office = {"domain": {"region": ["north", "south"], "size": [1, 2]},
        ...           "known": [{"marginal": ["region"]}]}
        >>> found = certify({"release": [{"query": "histogram", "scale": "2"}]}, office, 1)
        >>> found.verdict, found.loss
        ('refuted', 2)
        >>> certify({"release": [{"query": "histogram", "scale": "4"}]}, office, 1).verdict
        'proved'
        >>> gaussian = {"query": "histogram", "noise": "discrete-gaussian", "variance": "8"}
        >>> certify({"release": [gaussian]}, {"domain": {"x": ["a", "b"]}}, rho="1/8").loss
        Fraction(1, 8)
    """
    from blowproof.cli.asking.judge import judge
    from blowproof.models.mechanisms.mechanism_file import located
    from blowproof.verifier.certify.base.promise import Promise

    asked, bound = session(reading, answers, engine, time_limit), read(policy)
    given = {"epsilon": epsilon, "rho": rho, "delta": delta}
    numbers = {name: exactly(value, name) for name, value in given.items() if value is not None}
    promise = Promise(**numbers)
    described, content, file = _described(mechanism)

    def judged() -> Verdict:
        found = judge(asked, described, bound, promise, limit=time_limit)
        return Verdict.of(described, bound, found)

    verdict = judged() if file is None else located(judged, content, file=file)
    go_on(asked)
    return verdict


def odds(  # keyword-only options
    mechanism: Mechanism | File | Mapping[str, object],
    policy: PolicyLike,
    epsilon: Exact | str,
    *,
    answers: Answers | None = None,
    time_limit: float | None = None,
    composition: bool = False,
    certificate: File | None = None,
) -> Odds:
    """Return the largest odds ratio over secret pairs, outputs and beliefs, in bounds.

    The mechanism says under `attackers` whose beliefs count (default: independent records, given
    the facts). The attacker who shows the lower bound comes with it, and is evaluated by itself.
    `composition`: say also whether releases compose linearly against them. `certificate`: a file to
    write what the small checker needs (`check`).

    Examples:
        >>> trap = {"domain": {"v": {"min": 0, "max": 3}}, "database": {"size": 3},
        ...         "secrets": {"kind": "distance", "metric": "l1", "threshold": 1},
        ...         "known": [{"count": {"v": {"min": 1, "max": 2}}, "answer": 1}]}
        >>> found = odds({"release": [{"query": "histogram", "scale": 2}]}, trap, 1)
        >>> found.verdict, found.lower, found.secret
        ('exceeded', 'exp(2)', ('record 1 holds 0', 'record 1 holds 1'))
    """
    from blowproof.cli.releasing.odds import odds_of
    from blowproof.models.mechanisms.mechanism_file import located

    asked, bound = session("pufferfish", answers, "auto", time_limit), read(policy)
    limit = exactly(epsilon, "epsilon")
    described, content, file = _described(mechanism)

    def judged() -> Odds:
        path = None if certificate is None else os.fspath(certificate)
        return Odds.of(
            odds_of(asked, described, bound, limit, compose=composition, certificate=path)
        )

    found = judged() if file is None else located(judged, content, file=file)
    go_on(asked)
    return found


def _described(
    mechanism: Mechanism | File | Mapping[str, object],
) -> tuple[Mechanism, str, str | None]:
    """Return the mechanism, and the text and the name of its file where it comes from one."""
    from blowproof.models.mechanisms.mechanism_file import mechanism_from, read_with_text

    if isinstance(mechanism, Mechanism):
        return mechanism, "", None
    if isinstance(mechanism, Mapping):
        return mechanism_from(mechanism), "", None
    described, content = read_with_text(os.fspath(mechanism))
    return described, content, str(mechanism)


def check(
    certificate: File,
    policy: PolicyLike | None = None,
    query: str | None = None,
    *,
    answers: Answers | None = None,
    embedded: bool = False,
    time_limit: float = 600,
) -> Check:
    """Replay a certificate file with the small independent checker, and say what it proves.

    A certificate carries its own policy, query and numbers. With `policy` and `query` they are
    compared with yours, and so are the files that these name and the data; what cannot be compared
    is a reason to reject, unless `embedded` says to believe the certificate there.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from blowproof import sensitivity
        >>> office = {"domain": {"region": ["north", "south"], "size": [1, 2]},
        ...           "known": [{"marginal": ["region"]}]}
        >>> with TemporaryDirectory() as folder:
        ...     answer = sensitivity(office, certificate=f"{folder}/proof.json")
        ...     found = check(f"{folder}/proof.json", office, "histogram")
        ...     other = check(f"{folder}/proof.json", office, "marginal(size)")
        >>> answer.status, found.accepted, found.value, found.compared
        ('proved', True, 4, ('policy', 'query'))
        >>> other.accepted, other.reason
        (False, 'it is a proof about another query than marginal(size)')
    """
    from blowproof.cli.releasing.check import checked as replayed
    from blowproof.verifier.kernel import Unreadable

    checked("published", answers, "auto")
    if policy is None and (query is not None or answers is not None):
        raise QueryError(
            "query and answers go with a policy: they are read as its\n  try: a policy"
        )
    other = None if policy is None else (lambda: read(policy), called(policy))
    path = str(Path(certificate))
    try:
        found = replayed(path, other, query, answers, embedded=embedded, time_limit=time_limit)
    except Unreadable as error:
        raise DataError(f"{path}: this is no certificate: {error}") from None
    return Check.of(found)
