"""All mechanisms compared for a workload, before anything is spent.

For each query every candidate is made ready at the whole budget, which proves it private, and its
error is computed or rehearsed. One query: the candidates are the options. Several: each release may
serve several queries, so the queries are put into groups that share one, the budget is split among
the groups by the cube-root rule, and the grouping with the least weighted error is looked for
(every query its own best; all by one release; and from there one query at a time). What all
releases together lose is then asked of the certifier, and what is left of the budget is given back
to all of them alike. Last, queries are answered from everything that is drawn, where that is better
(`finishing`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.expecting.expected import Expected, expected
from blowproof.mechanisms.expecting.made_up import MOST_CELLS, made_up
from blowproof.mechanisms.kinds.k_norm import KNorm
from blowproof.mechanisms.kinds.laplace import Gaussian, Laplace
from blowproof.mechanisms.kinds.lemmas import LEMMAS
from blowproof.mechanisms.kinds.strategy import Strategy
from blowproof.mechanisms.kinds.table import Table
from blowproof.mechanisms.kinds.together import Together
from blowproof.mechanisms.kinds.transformed import NoisyTable, Transformed, free
from blowproof.mechanisms.planning.candidates import Candidate, candidates, noise_of_its_own
from blowproof.mechanisms.planning.finishing import joined, without_negative
from blowproof.mechanisms.planning.groupings import (
    Grouping,
    Tried,
    best_of,
    cost_of,
    costs_of,
    groupings,
    shared,
)
from blowproof.mechanisms.planning.lower_bounds import LowerBound, joint_bound, lower_bound
from blowproof.mechanisms.planning.options import Drawn, Option, Refused, marked, weighted
from blowproof.mechanisms.planning.split import cube_roots, require_within, square_roots
from blowproof.mechanisms.planning.strategies import at_best, strategies
from blowproof.mechanisms.planning.workload import Workload
from blowproof.mechanisms.release.calibrate import recalibrated
from blowproof.mechanisms.release.gate import proved
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.registry import unproved
from blowproof.mechanisms.release.release import Plan, Request
from blowproof.mechanisms.release.worth import out_of_reach, require_less_noise
from blowproof.models import (
    BlowproofError,
    ContradictionError,
    Policy,
    UndeterminedError,
    setting,
    show,
)
from blowproof.models.base.clock import Budget, by_processor, now
from blowproof.models.base.threads import one_thread
from blowproof.models.norms import L1, L2_SQUARED
from blowproof.models.policy.readings import is_labelled
from blowproof.models.stacks.stacked import in_norm
from blowproof.verifier.asked.answer import Answer

__all__ = ["NEARLY", "TOGETHER", "Planned", "planned"]

SEED = 20_140
TOGETHER = "all queries together"
FLOWS = "transformed"
PLAIN = "laplace"
"""Noise on each answer: the first candidate, whose S is that of the query itself."""
WORTH_IT = Fraction(101, 100)
"""What shares are multiplied by at least, if at all."""
NEARLY = 1.25
"""Two errors are nearly alike up to this ratio."""
HOPELESS = 3.0
"""What a few rehearsals show to be worse than the best by this factor is rehearsed no further."""
LAST_SHARE, LATER_SHARE, ROUGH_SHARE, OVER_SHARE = 0.5, 0.15, 0.03, 0.2
"""Of the time that is left, for one candidate: the first may need it for S; one that comes after
another answer, and a rough one that does, may not; and for what is left over of a budget."""
FIRST_SHARE, FAR_APART = 0.1, 100
"""Of the time for a candidate, for a first look at S; and how many times its bounds may be apart
before nobody waits for them any longer."""
BASIC_SHARE, STRATEGY_SHARE = 0.6, 0.3
"""Of the time that is left, for all mechanisms but strategies (and then for these), and for the
choice of those."""
FIRST_LOOK, LOOK = 2.0, 1.0
"""Seconds for a look at plain noise, and at other candidates."""
LATER_GAIN = 1.25
"""By what an error may become smaller after it is estimated: a loss of several releases below the
sum of theirs, no numbers below 0, a fit to all that is drawn (see `finishing`)."""
CALIBRATED = (Laplace, Gaussian, KNorm, Strategy, Table, Transformed)
"""What draws one kind of noise, as wide as its S (in squares, its root)."""


@dataclass(frozen=True, eq=False)
class Planned:
    """What was compared: options, the best first, and what no mechanism can do."""

    request: Request
    workload: Workload
    options: tuple[Option, ...]
    bounds: tuple[LowerBound | None, ...]
    plain: tuple[Mapping[str, Any], ...]
    refused: tuple[Refused, ...]
    size: int | None
    notes: tuple[str, ...] = ()
    together: LowerBound | None = None

    @property
    def chosen(self) -> Option | None:
        """The option with the least weighted error, or nearly so; None where there is no option."""
        return self.options[0] if self.options else None

    @property
    def lost(self) -> Answer | None:
        """What is known of S of a query that no noise is of any use for; None: there is none."""
        for query, found in zip(self.workload.queries, self.sensitivities, strict=True):
            if not self.options and out_of_reach(self.request, query, table=False):
                return found
        return None

    @property
    def late(self) -> tuple[Refused, ...]:
        """What there was too little time for: more of it may lead to a better option."""
        return tuple(item for item in self.refused if item.late)

    @property
    def worth_it(self) -> bool:
        """Whether some answer can be told from 0: an RMSE below the largest one possible."""
        best = self.chosen
        if best is None:
            return False
        if self.size is None:
            return True
        domain = self.request.policy.domain
        most = [query.largest_answer(domain, self.size) for query in self.workload.queries]
        return any(limit is None or error.rmse < float(limit) or error.rmse == 0
                   for limit, error in zip(most, best.errors, strict=True))  # fmt: skip

    @property
    def sensitivities(self) -> tuple[Answer | None, ...]:
        """What was found out about S of each query, in the norm of its plain noise; None: nothing.

        For an epsilon that is l1 (Laplace), for a rho l2-squared (Gaussian).
        """
        norm = (L1 if self.request.rho is None else L2_SQUARED).name
        every = (*(item[1] for item in self.request.looked), *(it for _, it in self.request.said))
        said = {answer.query: answer for answer in every if answer.norm == norm}
        return tuple(said.get(query.name) for query in self.workload.queries)

    @property
    def bound(self) -> float | None:
        """The weighted lower bound, of each query or of all together; None where there is none."""
        found = [0.0 if item is None else item.rmse for item in self.bounds]
        each = weighted(found, self.workload.weights) if found else 0.0
        return max(each, 0.0 if self.together is None else self.together.rmse) or None


@one_thread()
def planned(
    request: Request,
    workload: Workload,
    *,
    size: int | None,
    seed: int | None = None,
    beside: bool = True,
) -> Planned:
    """Return the comparison of all mechanisms for a workload; nothing is spent.

    `request` says everything but the queries; `size` is n, where it is public. `beside`: with lower
    bounds, and with what plain differential privacy would be. Its time is told by counted work, as
    that of a question is, and by the clock on the wall only when that is over.
    """
    seed = SEED if seed is None else seed
    if request.deadline is None:
        return _planned(request, workload, size, seed, beside=beside)
    seconds = max(0.0, request.deadline - now())
    with Budget(seconds):
        counted = replace(request, deadline=now() + seconds)
        found = _planned(counted, workload, size, seed, beside=beside)
    return replace(found, request=request)


def _planned(
    request: Request, workload: Workload, size: int | None, seed: int, *, beside: bool
) -> Planned:
    policy = request.policy
    trials = _Trials(request, workload, _shapes(request, size), size, seed)
    shapes, refused = trials.shapes, trials.refused
    every = [candidates(query, policy) for query in workload.queries]
    trials.look(_left(request, BASIC_SHARE), every, first=True)
    tried = trials.found
    sure = _sure(request, workload, tried)
    trials.look_at_the_dear()
    trials.wait()
    options: list[Option] = []  # before what stands beside them, which looks at no clock
    if all(tried):
        options = _options(request, workload, tried, shapes, seed, refused) or sure
    known = [_known(item) for item in tried]
    bounds = tuple(
        lower_bound(query, policy, request.epsilon, rho=request.rho, reading=request.reading,
                    answers=request.answers, size=size, found=found)
        for query, found in zip(workload.queries, known if beside else (), strict=beside)
    )  # fmt: skip
    return Planned(
        request=request,
        workload=workload,
        options=tuple(marked(options)),
        bounds=bounds,
        plain=_plain(request, workload, shapes, seed) if beside else (),
        refused=tuple(refused),
        size=size,
        together=_together(request, workload, size) if beside else None,
    )


def _sure(request: Request, workload: Workload, tried: Sequence[Sequence[Tried]]) -> list[Option]:
    """Return an option for several queries before slower ones are looked for: each one's best so
    far. It stands where there is no time for another.
    """
    if len(workload) == 1 or not all(tried):
        return []
    try:
        with by_processor():
            return [_several(request, workload, tuple(row[0] for row in tried))]
    except BlowproofError:
        return []


def _together(request: Request, workload: Workload, size: int | None) -> LowerBound | None:
    """Return what no mechanism can do for all queries at once; one query has its own bounds."""
    if len(workload) == 1 or not is_labelled(request.reading):
        return None
    promise = float(request.epsilon), None if request.rho is None else float(request.rho)
    here = setting(request.policy, request.answers)
    weights = [float(weight) for weight in workload.weights]
    return next(iter(joint_bound(workload.queries, weights, here, promise, size)), None)


def _shapes(request: Request, size: int | None) -> list[tuple[str, NoisyTable]]:
    if request.policy.domain.size > MOST_CELLS:
        return []
    return list(made_up(request.policy, request.answers, size))


def _left(request: Request, share: float, at_most: float = math.inf) -> Request:
    """Return a request that ends after a share of the time that is left, and after so many seconds.

    Where those are what ends it, it is `hurried`: there may be more time later.
    """
    if request.deadline is None:
        return request
    told = now()
    seconds = max(0.01, (request.deadline - told) * share)
    return replace(
        request, deadline=told + min(seconds, at_most), hurried=request.hurried or seconds > at_most
    )


class _Trials:
    """What is tried for each query of a workload: `found`, the candidates that answer it.

    First all of them in a hurry. What is then open is asked again where it may be worth it.
    """

    def __init__(
        self,
        request: Request,
        workload: Workload,
        shapes: Sequence[tuple[str, NoisyTable]],
        size: int | None,
        seed: int,
    ) -> None:
        self.request, self.workload = request, workload
        self.shapes, self.size, self.seed = shapes, size, seed
        self.found: list[list[Tried]] = [[] for _ in workload.queries]
        self.refused: list[Refused] = []
        self.hopeless: set[str] = set()
        """Queries whose S is not worth waiting for."""
        self.late: list[tuple[int, Candidate, Refused]] = []
        """What a longer look may find an answer by."""
        self.dear: list[list[Candidate]] = [[] for _ in workload.queries]
        """What is asked about only where known pairs leave it a chance."""

    def look(
        self, request: Request, some: Iterable[Iterable[Candidate]], *, first: bool = False
    ) -> None:
        """Try candidates of each query, a little time for each; those that refuse say why.

        Every query's first candidate, then every query's second, ...: the quick ones come first, so
        that a query late in the workload has an answer however long the slow ones of another take.
        What is answered exactly, at no cost, is tried no more. Where no noise is of any use for a
        query, nothing answers the workload: then of the others only plain noise is tried, which
        says how large their S is. `first`: what takes long to know is put off.
        """
        for nth in zip_longest(*some):
            lost = _lost(request, self.workload, self.found)
            for place, candidate in enumerate(nth):
                row = self.found[place]
                if candidate is None or _exact(row) or (row and candidate.last):
                    continue
                if first and row and self._is_dear(candidate):
                    self.dear[place].append(candidate)
                    continue
                query = self.workload.queries[place]
                why_not = out_of_reach(request, query, table=candidate.on_values)
                if lost not in ("", query.name) and candidate.mechanism != PLAIN:
                    why_not = (
                        why_not or f"not tried: nothing answers {lost}, and so not this workload"
                    )
                if why_not:
                    self.refused.append(Refused(candidate.text, query.name, why_not))
                    continue
                share = self._share(place, candidate)
                look = FIRST_LOOK if candidate.mechanism == PLAIN else LOOK
                self._try(place, candidate, _left(request, share, look))
        self._in_order()

    def _is_dear(self, candidate: Candidate) -> bool:
        """Whether S of what is drawn takes long: of flows, where facts tie records together."""
        return candidate.mechanism == FLOWS and not free(self.request.policy)

    def _share(self, place: int, candidate: Candidate) -> float:
        """Return the share of the time that is left which a candidate may have."""
        row, query = self.found[place], self.workload.queries[place]
        rough = bool(row) and candidate.is_rough(query, self.request.policy)
        slow = LATER_SHARE if row else LAST_SHARE
        return ROUGH_SHARE if rough or query.name in self.hopeless else slow

    def _in_order(self) -> None:
        for row in self.found:
            row.sort(key=lambda item: (item.error.rmse, item.error.max95))
        places = {query.name: place for place, query in enumerate(self.workload.queries)}
        self.refused.sort(key=lambda item: places[item.query])

    def _try(self, place: int, candidate: Candidate, request: Request) -> bool:
        """Make a candidate ready for a query, and work out its error; it may refuse."""
        row, query = self.found[place], self.workload.queries[place]
        asked = replace(request, query=query, options=candidate.settings)
        try:
            with by_processor():
                if candidate.mechanism == PLAIN and _far_apart(asked):
                    self.hopeless.add(query.name)
                    if why_not := out_of_reach(asked, query, table=False):
                        raise RefusedError(why_not)
                plan = made_ready(candidate.mechanism, asked)
                _require_worth(plan, self.size)
            best = min((item.error.rmse for item in row), default=math.inf)
            with by_processor():
                error = expected(plan, self.shapes, self.seed, HOPELESS * best)
        except (ContradictionError, UndeterminedError):
            raise  # the policy is at fault, and every mechanism would say so
        except BlowproofError as why:
            self.refused.append(Refused(candidate.text, query.name, str(why)))
            if asked.hurried and self.refused[-1].late:
                self.late.append((place, candidate, self.refused[-1]))
            return False
        if error is None:
            why_not = "the domain is too large to rehearse it, so its error is not known"
            self.refused.append(Refused(candidate.text, query.name, why_not))
            return False
        row.append(Tried(candidate, plan, error))
        return True

    # --- by known pairs --------------------------------------------------------------------------

    def look_at_the_dear(self) -> None:
        """Try those strategies, and flows, that may be of use by what known pairs say of them.

        No noise from a larger S is less: what such a pair shows to be too much, by more than later
        steps may gain, is not asked about.
        """
        request, workload = self.request, self.workload
        if _lost(request, workload, self.found):
            return
        with by_processor():
            every = strategies(_left(request, STRATEGY_SHARE), workload)
            hopes = [
                [] if _exact(row) else self._hopes(place, (*self.dear[place], *some))
                for place, (row, some) in enumerate(zip(self.found, every, strict=True))
            ]
        rest = _left(request, BASIC_SHARE)  # for all: what is left puts the options together
        while True:
            lower = [[_times(item, 1 / LATER_GAIN) for item in some] for some in hopes]
            able = [[*row, *some] for row, some in zip(self.found, lower, strict=True)]
            best, _ = best_of(workload, able)
            chosen = [] if best is None else zip(best, lower, strict=True)
            used = {item.candidate.text for item, some in chosen if item in some}
            if not used:
                break
            again = [[it.candidate for it in some if it.candidate.text in used] for some in hopes]
            hopes = [[it for it in some if it.candidate.text not in used] for some in hopes]
            self.look(rest, again)
        for query, some in zip(workload.queries, hopes, strict=True):
            for item in some:
                why_not = (
                    "not tried, for it is not the best: by known pairs its RMSE is no less than "
                    f"about {item.error.rmse:.4g}"
                )
                self.refused.append(Refused(item.candidate.text, query.name, why_not))
        self._in_order()

    def _hopes(self, place: int, some: Iterable[Candidate]) -> list[Tried]:
        """Return candidates with errors that are at least those which they will have."""
        found = []
        easy = at_best(_left(self.request, BASIC_SHARE))
        for candidate in some:
            query = self.workload.queries[place]
            asked = replace(easy, query=query, options=candidate.settings)
            try:
                plan = unproved(candidate.mechanism, asked)
                error = expected(plan, self.shapes, self.seed)
            except BlowproofError as why:
                self.refused.append(Refused(candidate.text, query.name, str(why)))
                continue
            if error is not None:
                found.append(Tried(candidate, plan, error))
        return found

    # --- patience --------------------------------------------------------------------------------

    def wait(self) -> None:
        """Ask again, with more time, what was left open and may be worth it.

        What is then the best has had its time: its noise is not asked about once more.
        """
        late, self.late = self.late, []
        for place, candidate, refusal in late:
            if _exact(self.found[place]):
                continue
            self.refused.remove(refusal)
            share = self._share(place, candidate)
            self._try(place, candidate, _left(_left(self.request, BASIC_SHARE), share))
        waited: set[tuple[int, str]] = set()
        while all(self.found):
            able = [
                [it if (place, it.candidate.text) in waited else _hoped(it) for it in row]
                for place, row in enumerate(self.found)
            ]
            best, _ = best_of(self.workload, able)
            again = [
                (place, item)
                for place, item in enumerate(best or ())
                if _openness(item.plan) < 1 and (place, item.candidate.text) not in waited
            ]
            if not again:
                break
            for place, item in again:
                waited.add((place, item.candidate.text))
                self._wait_for(place, item.candidate)
        self._in_order()

    def _wait_for(self, place: int, candidate: Candidate) -> None:
        """Make a candidate ready again; what there was before stays where that is no better."""
        request = _left(self.request, LATER_SHARE)
        before = self.found[place]
        kept = next(it for it in before if it.candidate.text == candidate.text)
        refused = len(self.refused)
        if self._try(place, candidate, request):
            worse = max(kept, before[-1], key=lambda item: item.error.rmse)
            before.remove(worse)
        del self.refused[refused:]


def _openness(plan: Plan) -> float:
    """Return by what a plan's error would be multiplied if S were as small as it can be."""
    found = plan.sensitivity
    if not isinstance(plan, CALIBRATED) or found is None or found.status != "bounds":
        return 1.0
    if not found.upper:
        return 1.0
    share = float(Fraction(found.lower) / Fraction(found.upper))
    return share if found.norm != L2_SQUARED.name else math.sqrt(share)


def _hoped(item: Tried) -> Tried:
    """Return what was tried, with the least error that its S leaves."""
    share = _openness(item.plan)
    return item if share == 1 else _times(item, share)


def _times(item: Tried, factor: float) -> Tried:
    """Return what was tried, with its error multiplied."""
    return replace(item, error=item.error.times(factor))


def _lost(request: Request, workload: Workload, tried: Sequence[Sequence[Tried]]) -> str:
    """Return the first query that no noise is of any use for, and that nothing answers yet."""
    pairs = zip(workload.queries, tried, strict=True)
    left = (query for query, row in pairs if not row)
    return next((it.name for it in left if out_of_reach(request, it, table=False)), "")


def _exact(row: Sequence[Tried]) -> bool:
    """Whether a query is answered without any noise: nothing else is as good."""
    return any(item.error.rmse == 0 and item.error.how == "exact" for item in row)


def _far_apart(request: Request) -> bool:
    """Whether a first look leaves bounds on S that no patience is likely to close; it is kept then.

    Noise from such a bound is refused, whatever the mechanism, so the others have less time, too.
    """
    norm = L1 if request.rho is None else L2_SQUARED
    query = in_norm(request.bound, norm, request.policy.domain)
    if request.deadline is None:
        return False
    try:
        found = request.sensitivity(query, share=1 if request.hurried else FIRST_SHARE)
    except RefusedError:
        return False
    upper = found.upper
    if found.status != "bounds" or upper is None or upper <= FAR_APART * found.lower:
        return False
    request.keep(query, found)
    return True


def _require_worth(plan: Plan, size: int | None) -> None:
    """Refuse what a release would refuse: noise that is larger than what it is added to."""
    request = plan.request
    if size is None or request.accept_wide_bounds:
        return
    if request.policy.size_known(request.reading):
        drawn = (*(plan.description or ()), *plan.opening)
        require_less_noise(drawn, request.policy, size, plan.name)


def _known(tried: Sequence[Tried]) -> Any:
    """Return what Laplace found out about S of the query itself."""
    return next((it.plan.sensitivity for it in tried if it.candidate.mechanism == "laplace"), None)


# --- options -------------------------------------------------------------------------------------


def _options(
    request: Request,
    workload: Workload,
    tried: Sequence[Sequence[Tried]],
    shapes: Sequence[tuple[str, NoisyTable]],
    seed: int,
    refused: list[Refused],
) -> list[Option]:
    if len(workload) == 1:
        options = [_single(request, workload, item) for item in tried[0]]
    else:
        made: list[tuple[Option, Grouping]] = []
        able = groupings(workload, tried)  # the best of them first: it has all the time it needs
        near = LATER_GAIN**2 * cost_of(able[0], workload)
        for grouping in able:
            asked = request
            if grouping is not able[0]:
                look = math.inf if cost_of(grouping, workload) <= near else LOOK
                asked = _left(request, LATER_SHARE, look)
            try:
                with by_processor():
                    made.append((_several(asked, workload, grouping), grouping))
            except BlowproofError as why:  # too little time to prove it; another grouping stays
                names = " + ".join(dict.fromkeys(item.candidate.text for item in grouping))
                refused.append(Refused(names, TOGETHER, str(why)))
        made.sort(key=lambda item: item[0].rmse)
        options = [option for option, _ in made]
        with by_processor():
            options[:1] = [_with_all(request, workload, option, it) for option, it in made[:1]]
            options[:1] = [_rehearsed(option, shapes, seed) for option in options[:1]]
    options.sort(key=lambda option: option.rmse)
    options = _kinder_first(options)
    with by_processor():
        finished = without_negative(options[0], shapes, seed) if options else None
        return joined(options if finished is None else [finished, *options], request)


def _kinder_first(options: list[Option]) -> list[Option]:
    """Put that option first which is nearly as good as the best, and gains more on kinder data.

    Errors are judged by the made-up data that are worst. An option that is up to a quarter worse
    there comes first where it is better over all of them by more than that.
    """
    near = [item for item in options if item.rmse <= NEARLY * options[0].rmse]
    best = min(near, key=lambda item: item.rmse * item.usual, default=None)
    return options if best is None else [best, *(item for item in options if item is not best)]


def _rehearsed(option: Option, shapes: Sequence[tuple[str, NoisyTable]], seed: int) -> Option:
    """Return an option with the errors at the budgets that its releases really have."""
    assert isinstance(option.plan, Together)
    parts = []
    for part in option.parts:
        errors = [
            expected(option.plan.plans[place], shapes, seed) or error
            for place, error in zip(part.queries, part.errors, strict=True)
        ]
        parts.append(replace(part, errors=tuple(errors)))
    return replace(option, parts=tuple(parts))


def _single(request: Request, workload: Workload, item: Tried) -> Option:
    candidate = item.candidate
    budget = request.epsilon if request.rho is None else request.rho
    part = Drawn(candidate.mechanism, candidate.settings, budget, (0,), (item.error,))
    names = tuple(query.name for query in workload.queries)
    return Option(item.plan, (part,), workload.weights, names)


def _with_all(request: Request, workload: Workload, option: Option, grouping: Grouping) -> Option:
    """Return the option with what is left over of the budget given back to all its releases."""
    plan = option.plan
    assert isinstance(plan, Together)
    if request.rho is not None or plan.description is None:
        return option
    try:
        more = _left_over(_left(request, OVER_SHARE), plan)
        return option if more <= WORTH_IT else _several(request, workload, grouping, more)
    except BlowproofError:
        return option


def _several(
    request: Request, workload: Workload, grouping: Grouping, more: Fraction = Fraction(1)
) -> Option:
    """Return a grouping as an option; errors that were rehearsed grow as the budgets shrink.

    `more`: by which all shares are multiplied, for what the releases lose together.
    """
    groups = shared(grouping)
    costs = costs_of(grouping, groups, workload)
    split = cube_roots if request.rho is None else square_roots
    budget = request.epsilon if request.rho is None else request.rho
    shares = split(costs, budget)
    require_within(shares, budget)
    shares = tuple(share * more for share in shares)
    plans = _ready(request, workload, grouping, groups, shares)
    parts = []
    for group, share in zip(groups, shares, strict=True):
        errors = []
        for place in group:
            factor = float(budget / share) ** (1 if request.rho is None else 1 / 2)
            errors.append(expected(plans[place], (), 0) or grouping[place].error.times(factor))
        candidate = grouping[group[0]].candidate
        parts.append(
            Drawn(candidate.mechanism, candidate.settings, share, tuple(group), tuple(errors))
        )
    names = tuple(query.name for query in workload.queries)
    together = Together(request, plans)
    proved(together)
    return Option(together, tuple(parts), workload.weights, names)


def _ready(
    request: Request,
    workload: Workload,
    grouping: Grouping,
    groups: Sequence[Sequence[int]],
    shares: Sequence[Fraction],
) -> list[Plan]:
    """Return the plans of all queries, each at the budget of its group."""
    share_of = {at: share for group, share in zip(groups, shares, strict=True) for at in group}
    return [
        made_ready(
            item.candidate.mechanism,
            replace(
                request,
                query=workload.queries[at],
                epsilon=share_of[at] if request.rho is None else Fraction(0),
                rho=None if request.rho is None else share_of[at],
                options=item.candidate.settings,
            ),
        )
        for at, item in enumerate(grouping)
    ]


def _left_over(request: Request, together: Together) -> Fraction:
    """Return by what all shares may be multiplied, for what the releases lose together."""
    assert together.description is not None
    try:
        found = recalibrated(
            together.description.releases,
            request.policy,
            request.epsilon,
            reading=request.reading,
            answers=request.answers,
            time_limit=request.left,
            known=request.known,
            lemmas=LEMMAS,
        )[1]
    except RefusedError:
        return Fraction(1)
    upper = found.upper
    if not isinstance(upper, (int, Fraction)) or upper <= 0 or upper >= request.epsilon:
        return Fraction(1)
    return request.epsilon / Fraction(upper)


# --- beside it -----------------------------------------------------------------------------------


def _plain(
    request: Request,
    workload: Workload,
    shapes: Sequence[tuple[str, NoisyTable]],
    seed: int,
) -> tuple[Mapping[str, Any], ...]:
    """Return the best error for each query if nothing were known but n, and everything secret.

    That is plain differential privacy of one record's value; each query at the whole budget.
    """
    policy = Policy(
        domain=request.policy.domain, queries=request.policy.queries, folder=request.policy.folder
    )
    reading = request.reading if is_labelled(request.reading) else "published"
    asked = request.under(policy, reading)
    found = []
    for query in workload.queries:
        best: tuple[str, Expected] | None = None
        own = ("laplace", "gaussian") if noise_of_its_own(query, policy) else ("quadtree",)
        for name in (*own, "hierarchical"):
            try:
                plan = made_ready(name, replace(_left(asked, LAST_SHARE), query=query, options={}))
                error = expected(plan, shapes, seed)
            except BlowproofError:
                continue
            if error is not None and (best is None or error.rmse < best[1].rmse):
                best = name, error
        if best is not None:
            budget = request.epsilon if request.rho is None else request.rho
            entry = {"query": query.name, "mechanism": best[0], "budget": show(budget)}
            found.append(entry | best[1].to_json())
    return tuple(found)
