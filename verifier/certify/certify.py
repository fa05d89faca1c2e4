"""The front door of the certifier: `certify`.

>>> from blowproof.models import Distance, Domain, Integers, Policy
>>> from blowproof.models.mechanisms.mechanism import Mechanism, Release
>>> policy = Policy(domain=Domain(age=Integers(0, 115)), secrets=Distance(threshold=5))
>>> release = Release(query="cumulative(age)", scale=Fraction(10))
>>> found = certify(Mechanism(releases=(release,)), policy, Fraction(1))
>>> found.verdict, found.loss
('proved', Fraction(1, 2))
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from blowproof.models import Policy, PolicyError, setting
from blowproof.models.base.clock import now
from blowproof.models.mechanisms.mechanism import Mechanism
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.asked.names import Engine
from blowproof.verifier.asked.question import Listener, Progress
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.base.asked_before import Known
from blowproof.verifier.certify.base.lemmas import Lemma
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.base.steps import step_assumptions
from blowproof.verifier.certify.base.verdict import (
    INFINITE,
    Assumption,
    Certified,
    Changed,
    Loss,
    LossBounds,
    Verdict,
)
from blowproof.verifier.certify.channels.channel import channel_loss
from blowproof.verifier.certify.channels.ratios import Probabilities
from blowproof.verifier.certify.measures.measured import measured
from blowproof.verifier.certify.noise.additive import bind
from blowproof.verifier.certify.noise.changed_outputs import changed_outputs
from blowproof.verifier.databases.consistency import prepare

__all__ = ["certify", "undecided", "verdict_of"]


def certify(  # noqa: PLR0913 # keyword-only options
    mechanism: Mechanism,
    policy: Policy,
    promise: Promise | Fraction,
    *,
    reading: Reading = "published",
    answers: Answers | None = None,
    engine: Engine = "auto",
    time_limit: float | None = None,
    listener: Listener | None = None,
    known: Known | None = None,
    lemmas: Sequence[Lemma] = (),
    squares: Sequence[Lemma] = (),
    enough: bool = False,
) -> Certified:
    """Return whether the mechanism keeps its promise under a policy, by its description alone.

    Definition 4.2 of blowfish-2014 (a number is a pure epsilon), or the same with rho or with an
    epsilon and a delta, over the neighbours of a reading, in both directions of every pair. Steps
    after the noise cost nothing if they are known (`steps`); others, and choices whose costs the
    certifier does not know, make "proved" into "proved-assuming". A description that does not fit
    the policy is a PolicyError, a policy without databases a ContradictionError.

    `known` spares it questions that the verifier has answered in this run; `lemmas` are arguments
    that the caller stands for, `squares` those about squares. `enough`: whether bounds within the
    promise need not be improved.
    """
    promised = promise if isinstance(promise, Promise) else Promise(promise)
    start = time.perf_counter()
    asked = Asked(
        policy=policy,
        setting=prepare(setting(policy, answers), reading),
        reading=reading,
        answers=answers,
        engine=engine,
        deadline=None if time_limit is None else now() + time_limit,
        listener=listener,
        known=known,
        lemmas=lemmas,
        squares=squares,
        enough=promised.limit if enough and _of_one_sort(mechanism, promised) else None,
    )
    judge = _noise if mechanism.channel is None else _channel
    found = judge(asked, mechanism, promised)
    return replace(found, seconds=time.perf_counter() - start)


def _of_one_sort(mechanism: Mechanism, promise: Promise) -> bool:
    """Whether all noise is of the kind that is promised: its loss is the whole loss."""
    width = "scale" if promise.rho is None else "variance"
    alone = all(item.width == width for item in mechanism.releases if any(item.widths))
    return alone and promise.delta is None and not mechanism.selections


def _noise(asked: Asked, mechanism: Mechanism, promise: Promise) -> Certified:
    parts = bind(mechanism, asked.policy, asked.reading)
    judged = measured(asked, mechanism, parts, promise)
    found = judged.found
    assumed = judged.assumed + step_assumptions(mechanism.postprocessing)
    pair = found.pair
    outputs, changed = _outputs(mechanism, parts, pair, asked.reading, asked.policy)
    verdict = verdict_of(found, promise.limit) if judged.delta is None else judged.delta.verdict
    return Certified(
        mechanism=mechanism.name,
        policy=asked.policy.name,
        reading=asked.reading,
        answers=asked.setting.scope,
        promise=promise,
        verdict=_assuming(verdict, assumed),
        lower=found.lower,
        upper=found.upper,
        witness=pair,
        outputs=outputs,
        outputs_changed=changed,
        postprocessing=mechanism.postprocessing,
        delta=judged.delta,
        assumptions=assumed,
        scalable=judged.scalable,
        engine=found.engine,
        notes=found.notes,
    )


def _assuming(verdict: Verdict, assumed: Sequence[Assumption]) -> Verdict:
    """Return the verdict with its reservation, if it has one; a refutation assumes nothing."""
    return "proved-assuming" if verdict == "proved" and assumed else verdict


def _channel(asked: Asked, mechanism: Mechanism, promise: Promise) -> Certified:
    assert mechanism.channel is not None
    epsilon = promise.epsilon
    if epsilon is None or promise.delta is not None:
        raise PolicyError(
            "a channel is judged by a pure epsilon, for its probabilities may hold eps",
            key="channel",
            hint="--epsilon E, without --rho and --delta",
        )
    probabilities = Probabilities(mechanism.channel, epsilon)
    found = channel_loss(asked, mechanism.channel, probabilities)
    lower, upper = found.lower, found.upper
    exact = upper is not None and not upper.above(lower)
    verdict: Verdict = "undecided"
    if found.infinite or lower.above_exp(epsilon):
        verdict = "refuted"
    elif upper is not None and not upper.above_exp(epsilon):
        verdict = "proved"
    assumed = step_assumptions(mechanism.postprocessing)
    loss: Loss | None = INFINITE if found.infinite else lower.logarithm(epsilon)
    text = INFINITE if found.infinite else lower.text if exact else None
    low = INFINITE if found.infinite else lower.decimals[0]
    high = INFINITE if found.infinite or upper is None else upper.decimals[1] or INFINITE
    return Certified(
        mechanism=mechanism.name,
        policy=asked.policy.name,
        reading=asked.reading,
        answers=asked.setting.scope,
        promise=promise,
        verdict=_assuming(verdict, assumed),
        lower=loss,
        upper=loss if exact or found.infinite else None,
        witness=found.pair,
        exp_loss=text,
        exp_between=(low, high),
        channel_outputs=found.outputs,
        postprocessing=mechanism.postprocessing,
        assumptions=assumed,
        engine=found.engine,
        notes=found.notes,
    )


def undecided(
    mechanism: Mechanism,
    policy: Policy,
    promise: Promise,
    *,
    reading: Reading,
    answers: Answers | None,
    latest: Progress,
    why: str,
) -> Certified:
    """Return what is known when the search was stopped: its bounds by then may still refute.

    What was told from above is a bound on all of the loss where there is Gaussian noise alone and a
    rho is promised (`gaussian_rho`), or Laplace noise alone, of some width in every output, and a
    pure epsilon (`additive_loss`); elsewhere it may be about a part of it.
    """
    noises = {release.noise for release in mechanism.releases}
    if promise.measure == "rho":
        whole = noises == {"discrete-gaussian"}
    else:
        laplace = noises <= {"laplace", "discrete-laplace"} and promise.delta is None
        whole = laplace and all(all(release.scales) for release in mechanism.releases)
    alone = bool(noises) and whole and not mechanism.selections
    upper = latest.upper if alone else None
    found = LossBounds(
        lower=latest.lower, upper=upper, pair=latest.witness, engine="auto", notes=(why,)
    )
    pair = found.pair
    parts = () if pair is None else bind(mechanism, policy, reading)
    outputs, changed = _outputs(mechanism, parts, pair, reading, policy)
    return Certified(
        mechanism=mechanism.name,
        policy=policy.name,
        reading=reading,
        answers=policy.with_answers(answers).scope,
        promise=promise,
        verdict=verdict_of(found, promise.limit),
        lower=found.lower if mechanism.channel is None else None,
        upper=upper,
        witness=pair,
        outputs=outputs,
        outputs_changed=changed,
        exp_between=None if mechanism.channel is None else ("1", INFINITE),
        postprocessing=mechanism.postprocessing,
        engine=found.engine,
        notes=found.notes,
    )


def _outputs(
    mechanism: Mechanism, parts: Sequence[Part], pair: Pair | None, reading: Reading, policy: Policy
) -> tuple[tuple[Changed, ...], int]:
    if pair is None:
        return (), 0
    found, count = changed_outputs(parts, pair, reading, policy)
    return tuple(item.under(mechanism.releases[item.release]) for item in found), count


def verdict_of(found: LossBounds, limit: Fraction) -> Verdict:
    """Return what bounds on the loss say about a promised one."""
    if _above(found.lower, limit):
        return "refuted"
    if found.upper is not None and not _above(found.upper, limit):
        return "proved"
    return "undecided"


def _above(loss: Loss, limit: Fraction) -> bool:
    return isinstance(loss, str) or loss > limit
