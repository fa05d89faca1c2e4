"""What all tests share: every run draws the same examples, at the same speed of time.

No test sees the ledgers of whoever runs it: each has a store of its own. Failures are printed when
they happen, not when everything is over.
"""

import gc
import os
import signal
import sys
import time

import pytest
from hypothesis import HealthCheck, settings

import refusals

# Hundreds of processes are started by tests. Where a shell forbids to keep compiled files, each of
# them would compile everything anew; and so would pytest, in each worker, with all the tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Each core has a worker already. Further threads of the linear algebra find hardly anything to do
# in matrices as small as those of the tests, and use up a core while they wait for it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],  # it is told in seconds
)
settings.load_profile("ci")

IDLE = 20
"""A process that waits is told that its time goes so many times slower than that of the clock."""

LOOKS = 0.001
"""So many seconds on the clock may pass between two looks at the processor time: each costs the
system a call, and searches ask for the time a million times."""

LONG_FILES = (
    *("test_outside_solvers", "test_every_strategy", "test_kernel_forged", "test_docs"),
    *("test_kernel", "test_notebooks", "test_every_norm", "test_kernel_thousands"),
    *("test_agreement", "test_planning", "test_labelled", "test_cluster", "test_corpus"),
    *("test_large_numbers", "test_kept_tables", "test_proofs_in_norms", "test_sweep"),
    *("test_fallback", "test_serve", "test_report", "test_many_classes", "test_any_width"),
    *("test_attacks", "test_spectral_bound", "test_release_cli", "test_kernel_cases"),
    *("test_readme", "test_cli", "test_polytope", "test_release_of_tables", "test_in_norms"),
    *("test_linked_facts", "test_simple_cycles", "test_many_areas", "test_boolean_model"),
    *("test_workbench", "test_linear_model", "test_ordered"),
)
"""Files of ten seconds and more, the longest first: workers begin with them.

Whoever is given one at the end would work on it while the others have nothing left to do.
"""

MARKERS = (
    "wall_clock: the test waits for something, so its deadlines are told by the clock on the wall",
    "refusals(most): so many drawn questions at most may be refused by an engine; else none",
)


def pytest_configure(config):
    for line in MARKERS:
        config.addinivalue_line("markers", line)
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # not by the number of tests, but by the time
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which processes do not inherit


def pytest_collection(session):
    """Nothing that is collected becomes garbage: what looks for some would go through all of it."""
    gc.disable()


def pytest_collection_finish(session):
    gc.freeze()  # the tests and all modules: no later look for garbage goes through them again
    gc.enable()


def pytest_unconfigure():
    gc.unfreeze()  # what is never freed, some libraries call a leak


def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):
        places = {name: place for place, name in enumerate(LONG_FILES)}
        items.sort(key=lambda item: places.get(item.path.stem, len(LONG_FILES)))


@pytest.fixture(autouse=True)
def time_of_its_own(request, monkeypatch):
    """Deadlines are told by the processor time of this process: others take none of it away.

    So a question gets as far within its limit on a busy machine as on a quiet one. What sleeps
    comes to its deadline too, later. Only `time.monotonic` is another; subprocesses have their own.
    """
    if request.node.get_closest_marker("wall_clock") is None:
        monotonic, processor = time.monotonic, time.process_time
        wall, used = monotonic(), processor()
        looked = told = wall

        def own_time():
            nonlocal looked, told
            if (clock := monotonic()) - looked >= LOOKS:
                looked, told = clock, wall + max(processor() - used, (clock - wall) / IDLE)
            return told

        monkeypatch.setattr(time, "monotonic", own_time)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fail where engines refused more of the drawn questions than the test allows."""
    marker = item.get_closest_marker("refusals")
    with refusals.at_most(0 if marker is None else marker.args[0]):
        return (yield)


class AtOnce:
    """Prints a failure when it happens; pytest tells it at the end, or never if it is killed."""

    def __init__(self, terminal):
        self.terminal = terminal

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.terminal.write_line(
                f"\nfailed just now: {report.nodeid} ({report.when})", red=True
            )
            self.terminal.write_line(report.longreprtext)


def pytest_sessionstart(session):
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None:  # workers of xdist have none
        session.config.pluginmanager.register(AtOnce(terminal))


@pytest.fixture(scope="session")
def stores(tmp_path_factory):
    """A folder for the stores of all tests, and a counter."""
    return tmp_path_factory.mktemp("stores"), iter(range(10**9))


@pytest.fixture(autouse=True)
def own_store(stores, monkeypatch):
    """The place of this test's own store: its folder is created when something is spent."""
    folder, numbers = stores
    place = folder / str(next(numbers)) / "ledger.sqlite"
    monkeypatch.setenv("BLOWPROOF_LEDGER", str(place))
    monkeypatch.setenv("BLOWPROOF_STATE", str(place.parent))
    return place
