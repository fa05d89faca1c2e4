"""Exact sensitivities for Blowfish privacy, from Python.

Say what is secret and what is publicly known, and ask how much a query can change between two
databases that nobody may tell apart:

>>> import blowproof
>>> from blowproof.models import Count, Domain, Integers, Labels
>>> domain = Domain(sex=Labels(["F", "M"]), age=Integers(0, 9))
>>> policy = blowproof.Policy(domain=domain, known=(Count({"sex": "F"}),))
>>> answer = blowproof.sensitivity(policy, "histogram")
>>> answer.upper, answer.status
(4, 'exact')
>>> sorted(answer.witness.before) != sorted(answer.witness.after)
True

Where a policy is wanted, a path to a policy file or the tables of one do as well. Numbers go in as
`int`, `Fraction` or "p/q", never as a float, and come out as `int` or `Fraction`. What is wrong is
a `blowproof.models.BlowproofError` that says what, where, why and what to try.

`read` a policy; `sensitivity`, `neighbours` and `audit` ask about it, `sweep` about many;
`audit_opendp` says what the promise of another library's Context really is; `certify` judges a
mechanism against neighbours, `odds` against attackers, and `check` a proof; `plan` says what
answers would be worth, `release` draws them. Each does what the command of the same name does
(`blowproof --help`), without writing to the screen; `print` shows what the command shows,
`to_json()` is its document.

Reading order: given (what is handed in), asking (questions), judging (mechanisms and proofs),
planning, releasing, sweeping (many questions), values (what comes back). Nothing is loaded before
it is used, so that importing this package takes no time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blowproof.asking import audit, audit_opendp, neighbours, sensitivity
    from blowproof.given import read
    from blowproof.judging import certify, check, odds
    from blowproof.models import Policy
    from blowproof.planning import plan
    from blowproof.releasing import release
    from blowproof.sweeping import sweep

    __version__: str

_HOMES = {
    "Policy": "models",
    "audit": "asking",
    "audit_opendp": "asking",
    "certify": "judging",
    "check": "judging",
    "neighbours": "asking",
    "odds": "judging",
    "plan": "planning",
    "read": "given",
    "release": "releasing",
    "sensitivity": "asking",
    "sweep": "sweeping",
}

__all__ = [
    "Policy",
    "__version__",
    "audit",
    "audit_opendp",
    "certify",
    "check",
    "neighbours",
    "odds",
    "plan",
    "read",
    "release",
    "sensitivity",
    "sweep",
]

if not TYPE_CHECKING:  # for a type checker, a name that is not there is an error

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name == "__version__":
            from importlib.metadata import version

            found: object = version("blowproof")
        elif name in _HOMES:
            found = getattr(import_module(f"blowproof.{_HOMES[name]}"), name)
        else:
            raise AttributeError(f"module 'blowproof' has no attribute {name!r}")
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    """List the public names too that were not used yet."""
    return sorted({*globals(), *__all__})
