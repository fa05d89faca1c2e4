"""Mechanisms judged: `certify`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from blowproof.given import File, PolicyLike, exactly, go_on, read, session
from blowproof.models.mechanism import Mechanism
from blowproof.models.policy import Answers, Reading
from blowproof.values import Verdict

if TYPE_CHECKING:
    from blowproof.models import Exact
    from blowproof.verifier.question import Engine

__all__ = ["certify"]


def certify(  # keyword-only options
    mechanism: Mechanism | File | Mapping[str, object],
    policy: PolicyLike,
    epsilon: Exact | str,
    *,
    reading: Reading = "published",
    answers: Answers | None = None,
    engine: Engine = "auto",
    time_limit: float | None = None,
) -> Verdict:
    """Return whether a mechanism is private under a policy: proved, refuted or undecided in time.

    The mechanism (its description, the path of a mechanism file, or the tables of one) is judged by
    what it says: what it releases, and with which noise. The loss is exact, over all neighbours.

    >>> office = {"domain": {"region": ["north", "south"], "size": [1, 2]},
    ...           "known": [{"marginal": ["region"]}]}
    >>> found = certify({"release": [{"query": "histogram", "scale": "2"}]}, office, 1)
    >>> found.verdict, found.loss
    ('refuted', 2)
    >>> certify({"release": [{"query": "histogram", "scale": "4"}]}, office, 1).verdict
    'proved'
    """
    from blowproof.cli.judging import judge
    from blowproof.models.mechanism_file import located

    asked, bound = session(reading, answers, engine, time_limit), read(policy)
    limit = exactly(epsilon, "epsilon")
    described, content, file = _described(mechanism)

    def judged() -> Verdict:
        found = judge(asked, described, bound, limit, limit=time_limit)
        return Verdict.of(described, bound, found)

    verdict = judged() if file is None else located(judged, content, file=file)
    go_on(asked)
    return verdict


def _described(
    mechanism: Mechanism | File | Mapping[str, object],
) -> tuple[Mechanism, str, str | None]:
    """Return the mechanism, and the text and the name of its file where it comes from one."""
    from blowproof.models.mechanism_file import mechanism_from, parse_mechanism, read_text

    if isinstance(mechanism, Mechanism):
        return mechanism, "", None
    if isinstance(mechanism, Mapping):
        return mechanism_from(mechanism), "", None
    path = Path(mechanism)
    content = read_text(path)
    return parse_mechanism(content, name=path.stem, file=str(path)), content, str(path)
