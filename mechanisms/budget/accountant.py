"""The privacy budget: releases add up (Theorem 4.1), except on disjoint parts (Theorems 4.2, 4.3).

Under one policy, reading and scope, whatever was released so far and however later questions were
chosen, an observer gains at most the sum of the epsilons; of releases on sets of records that no
neighbours touch together, at most the largest sum that any one record is part of.

Whose budget it is. An account belongs to the content of the data: a copy, a hard link, a file that
was moved or saved in another format finds it. Other content is never given an account in silence:

- the same path or the same file with other content has *changed*, and a file that shares a column's
  name with data of some account may be about the same people (tonight's rows under another name, a
  column more or less). It is refused until one is told: `people="new"`, an account of its own, or
  `people=N`, the people of account N, whose budget it then spends;
- what looks like nothing known opens an account with a budget, which is an explicit act. Data that
  were changed *and* moved *and* had every column renamed look so too: no ledger sees through that.

Several guarantees. Epsilons under two policies do not add up to one promise, yet the same people
pay for both. So an account holds a budget for each guarantee, and a release under one that was not
promised yet is refused unless told `new_guarantee`: it never finds a full budget in silence.

One measure each. A budget is in epsilon or in rho (zCDP), whichever its first release promised, and
the two are never added. A release with a pure epsilon is charged to a budget of rho as
epsilon^2 / 2, which is said; one with a rho is refused by a budget of epsilon, for there is no way
back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Literal

from blowproof.mechanisms.base.errors import LedgerError, OverspentError
from blowproof.mechanisms.budget.accounts import Account, Book, Charge, Guarantee, total_epsilon
from blowproof.mechanisms.budget.ledger import Ledger
from blowproof.mechanisms.parts.parallel import require_part
from blowproof.mechanisms.release.release import Request
from blowproof.models import Policy, setting, show
from blowproof.models.data.content import Content, content_of, order_of
from blowproof.models.data.dataset import Dataset
from blowproof.models.files.writing import digest
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.verifier.certify.measures.orders import from_pure

__all__ = ["Accountant", "People", "identity_of", "ledger_beside", "refuse_old_ledger", "stranger"]

People = int | Literal["new"]
"""Whose data some unknown content is: those of an account, or people of whom there is none."""


def identity_of(policy: Policy, reading: Reading, answers: Answers | None) -> dict[str, str]:
    """Return what a budget is kept for: the guarantee whose epsilons add up.

    The policy counts, not its name and not the queries that it gives names to; numbers that it
    takes from a data file are part of it.
    """
    scoped = policy.with_answers(answers)
    identity = {
        "policy": policy.name,
        "digest": digest(replace(scoped, queries=())),
        "reading": reading,
        "answers": scoped.scope,
    }
    if scoped.scope == "given" and policy.database.data is not None:
        found = setting(policy, answers)
        numbers = [found.size, *(fact.answer for fact in found.equalities)]
        identity["counted"] = sha256(json.dumps(numbers).encode("ascii")).hexdigest()
    return identity


def ledger_beside(data: str | Path) -> Path:
    """Return where the ledger of version 1 lies, beside a data file."""
    real = Path(data).resolve()
    return real.with_name(f"{real.name}.blowproof.sqlite")


def refuse_old_ledger(data: str | Path) -> None:
    """Raise a LedgerError where a ledger of version 1 lies beside the data: it is not passed by."""
    old = ledger_beside(data)
    if old.exists():
        raise LedgerError(
            f"{old}: a ledger of version 1 has an account of these data: nothing was released\n"
            f"  try: blowproof ledger {data} --take-over {old}"
        )


class Accountant:
    """Keeps a budget for the people of a data file: the `Budget` of a release.

    `ledger`: a file (None: the user's own store). `budget` opens an account, or must agree with the
    one that exists. `people` and `new_guarantee`: see above. What cannot be accounted for is a
    LedgerError at once; nothing is written before the first release is charged.
    """

    def __init__(  # noqa: PLR0913 # what is asked, and what is told
        self,
        policy: Policy,
        data: str | Path,
        *,
        ledger: str | Path | None = None,
        budget: Fraction | None = None,
        reading: Reading = "published",
        answers: Answers | None = None,
        people: People | None = None,
        new_guarantee: bool = False,
        measure: Literal["epsilon", "rho"] = "epsilon",
    ) -> None:
        self._guarantee = (policy, reading, answers)
        self._asked = (budget, people, new_guarantee)
        self._measure = measure
        self.ledger = Ledger(ledger)
        refuse_old_ledger(data)
        self.content = content_of(data)
        self.identity = identity_of(policy, reading, answers)
        self.number: int | None = None
        self.name: str | None = None
        self._look()

    @property
    def budget(self) -> Fraction:
        """The epsilon (or rho) that all releases together may cost."""
        return self._look().budget

    @property
    def spent(self) -> Fraction:
        """What the releases so far cost together."""
        return self._look().spent

    def spend(
        self, request: Request, mechanism: str, data: Dataset | None = None
    ) -> tuple[str, ...]:
        """Write a release into the ledger, or raise an OverspentError; say what is left.

        A release on some records is taken only where parts are independent; one on other data, or
        under another guarantee, than this account is about is a LedgerError.
        """
        self._require_same(request, data)
        with self.ledger.writing() as log:
            book = Book(log.entries)
            account, promised = self._settled(book)
            charge = self._charge(request, mechanism, promised)
            self._decide((*promised.charges, charge), promised)
            book.charge(account, promised, charge)
            # What was digested is what is released: the records were read between the two.
            self.content.require_unchanged()
            for entry in book.added:
                log.append(entry)
            self.name = log.name
        self.number = account.number
        spent, budget = promised.spent, promised.budget
        unit = "" if promised.measure == "epsilon" else "rho = "
        said = f"budget: {unit}{show(spent)} of {show(budget)} spent, {show(budget - spent)} left"
        if request.rho is None and promised.measure == "rho":
            said += (
                f"; this account adds up rho: epsilon = {show(request.epsilon)} was converted to "
                f"epsilon^2 / 2 = {show(charge.cost)}"
            )
        others = len(account.guarantees) - 1
        if others:
            said += f" (of {others + 1} guarantees to these people, this one alone)"
        return (said,)

    def require_room(self, request: Request) -> None:
        """Raise an OverspentError where a release would cost more than is left: before anything is
        worked out for it. It is looked at again when it is charged.
        """
        self._require_same(request, None)
        promised = self._look()
        self._decide((*promised.charges, self._charge(request, "", promised)), promised)

    def _charge(self, request: Request, mechanism: str, promised: Guarantee) -> Charge:
        """Return what a release costs, in the measure of the budget."""
        pure = request.rho is None
        converted = pure and promised.measure == "rho"
        return Charge(
            epsilon=request.epsilon if pure else None,
            rho=from_pure(request.epsilon) if converted else request.rho,
            mechanism=mechanism,
            query=request.bound.name,
            records=request.records,
            order=None if request.records is None else order_of(self.content.path),
        )

    def _require_same(self, request: Request, data: Dataset | None) -> None:
        """Refuse a release that this account is not about."""
        if (request.rho is None) != (self._measure == "epsilon"):
            raise LedgerError(f"this account was opened for a release in {self._measure}")
        asked = (request.policy, request.reading, request.answers)
        if asked != self._guarantee and identity_of(*asked) != {
            **self.identity,
            "policy": request.policy.name,
        }:
            raise LedgerError("this account is kept for another policy, reading or scope")
        if data is not None and data.path.resolve() != self.content.path:
            raise LedgerError(f"{data.path}: this account is kept for {self.content.path}")

    def _look(self) -> Guarantee:
        """Return the budget as it stands, or as the first release would open it."""
        return self._settled(Book(self.ledger.entries()))[1]

    def _settled(self, book: Book) -> tuple[Account, Guarantee]:
        """Return the account of these people and their budget; open them where one is told to."""
        budget, people, new_guarantee = self._asked
        account = self._owner(book, people)
        book.see(account, self.content)
        item = self._promised(account, new=new_guarantee)
        if item is not None:
            if budget is not None and budget != item.budget:
                raise LedgerError(
                    f"its budget is {show(item.budget)}, not {show(budget)}: it was promised "
                    f"when account {account.number} was opened\n"
                    f"  try: --budget {show(item.budget)}, or none"
                )
            return account, item
        if account.guarantees and not new_guarantee:
            raise LedgerError(self._other(account))
        if budget is None:
            raise LedgerError(
                "there is no budget for this release: nothing was released and nothing spent\n"
                "  try: --budget B, which all releases about these people share, or --unaccounted"
            )
        return account, book.promise(account, self.identity, budget, self._measure)

    def _promised(self, account: Account, *, new: bool) -> Guarantee | None:
        """Return the budget of this guarantee: in the release's measure, or in rho.

        Told that the guarantee is new, an epsilon is not charged to a rho; it opens a budget.
        """
        mine = [item for item in account.guarantees if item.is_for(self.identity)]
        same = [item for item in mine if item.measure == self._measure]
        converts = [item for item in mine if item.measure == "rho" and not new]
        return next(iter((*same, *converts)), None)

    def _owner(self, book: Book, people: People | None) -> Account:
        """Return the account of these data; a new one for new people."""
        for account in book.accounts:
            if account.holds(self.content):
                if isinstance(people, int) and people != account.number:
                    raise LedgerError(
                        f"{self.content.path}: these data have account {account.number}, not "
                        f"{people}: accounts are not joined\n  try: leave --same-people-as out"
                    )
                return account
        if isinstance(people, int):
            if not 1 <= people <= len(book.accounts):
                raise LedgerError(
                    f"{self.ledger.path}: there is no account {people}\n"
                    "  try: `blowproof ledger` lists them"
                )
            return book.accounts[people - 1]
        why = stranger(book.accounts, self.content)
        if why and people is None:
            raise LedgerError(
                f"{self.content.path}: {why}: nothing was released and nothing spent\n"
                "  try: --same-people-as ACCOUNT, or --new-people with --budget B"
            )
        return book.open_account()

    def _other(self, account: Account) -> str:
        kept = account.guarantees[-1].identity
        keys = ("reading", "answers")
        differ = [key for key in keys if kept.get(key) != self.identity[key]]
        if any(item.is_for(self.identity) for item in account.guarantees):
            return (
                f"account {account.number} of these people adds up epsilons, and a rho has no pure "
                "epsilon: nothing was released and nothing spent\n  try: --epsilon E with a "
                "mechanism of Laplace noise, or --new-guarantee with --budget B: a further budget, "
                "of rho, of the same people"
            )
        what = "another policy, or an earlier version of this one"
        if differ and kept.get("digest") == self.identity["digest"]:
            what = " and ".join(
                f"{key} {kept[key]!r}, not {self.identity[key]!r}" for key in differ
            )
        return (
            f"account {account.number} of these people adds up releases under {what}; epsilons of "
            "different guarantees do not add up\n  try: the policy, --reading and --answers it was "
            "opened with, or --new-guarantee with --budget B: a further budget of the same people"
        )

    def _decide(self, charges: Sequence[Charge], promised: Guarantee) -> None:
        budget, measure = promised.budget, promised.measure
        parts = [item.records for item in charges if item.records is not None]
        if parts:
            require_part(*self._guarantee, parts)
        before, after = total_epsilon(charges[:-1]), total_epsilon(charges)
        if after > budget:
            raise OverspentError(
                f"{measure} = {show(charges[-1].cost)} would bring the releases to {show(after)}, "
                f"and the budget is {show(budget)} ({show(before)} is spent): nothing was drawn\n"
                f"  try: {'an epsilon' if measure == 'epsilon' else 'a rho'} of at most "
                f"{show(budget - before)}"
                if before < budget
                else f"the budget of {show(budget)} is spent: nothing was drawn"
            )


def stranger(accounts: Sequence[Account], content: Content) -> str:
    """Say why unknown content may be about people who have an account already, or return "".

    In the order of how sure that is: the same path, the same file under another name, a column
    with the same name.
    """
    names = {_plain(name) for name in content.columns}
    looks: tuple[tuple[str, Callable[[Account], bool]], ...] = (
        (
            "the file held other data when account {} spent on it",
            lambda account: any(item.path == str(content.path) for item in account.sightings),
        ),
        (
            "it is the same file as one of account {}, and held other data then",
            lambda account: any(
                (item.device, item.inode) == (content.device, content.inode)
                for item in account.sightings
            ),
        ),
        (
            "these data are new here, and have columns of the same name as those of account {}",
            lambda account: any(
                names.intersection(map(_plain, item.columns)) for item in account.sightings
            ),
        ),
    )
    for text, alike in looks:
        found = [account.number for account in accounts if alike(account)]
        if found:
            return text.format(" and of ".join(map(str, found[-3:])))
    return ""


def _plain(name: str) -> str:
    return name.strip().casefold()
