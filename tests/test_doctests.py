"""Every example in every docstring gives what it says.

`pytest --doctest-modules` would import each module a second time, as `models.x` besides
`blowproof.models.x`; hence this walk over the installed packages.
"""

import doctest
import linecache
from importlib import import_module
from pkgutil import walk_packages

import pytest

RUN_ON_IMPORT = (".__main__", ".serving.warm", ".sweeping.warm")
"""A program, and what forks workers: it waits until it has no other thread, as tests may have."""


def module_names() -> list[str]:
    """All modules, except the ones that run on import."""
    root = import_module("blowproof")
    found = [item.name for item in walk_packages(root.__path__, "blowproof.")]
    return ["blowproof", *(name for name in found if not name.endswith(RUN_ON_IMPORT))]


@pytest.mark.parametrize("name", module_names())
def test_module_imports_and_its_examples_hold(name: str) -> None:
    """As `doctest.testmod`, which also runs texts without any example, and looks each time whether
    one of all files has changed that were ever read.
    """
    linecache.clearcache()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for found in doctest.DocTestFinder().find(import_module(name), name):
        if found.examples:
            runner.run(found)
    assert runner.summarize().failed == 0
