"""Every example in every docstring gives what it says.

`pytest --doctest-modules` would import each module a second time, as `models.x` besides
`blowproof.models.x`; hence this walk over the installed packages.
"""

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

PACKAGES = ("models", "verifier", "mechanisms", "cli")


def module_names() -> list[str]:
    """All modules of the four packages, except the ones that run on import."""
    names = []
    for package in PACKAGES:
        root = import_module(f"blowproof.{package}")
        names.append(root.__name__)
        names += [found.name for found in walk_packages(root.__path__, f"{root.__name__}.")]
    return [name for name in names if not name.endswith(".__main__")]


@pytest.mark.parametrize("name", module_names())
def test_module_imports_and_its_examples_hold(name: str) -> None:
    assert doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS).failed == 0
