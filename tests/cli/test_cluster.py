"""One hard question on many machines: real workers, which are killed, and real networks."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager, suppress
from itertools import product
from pathlib import Path

import pytest

import blowproof
from blowproof.cli.asking import cluster as module
from blowproof.cli.asking.cluster import ClusterError, client_of, searched_on
from blowproof.cli.main import run
from blowproof.verifier.engines.farmed import farm
from blowproof.verifier.engines.irreducibles import longest, warm_up

distributed = pytest.importorskip("distributed")


def one_way(*shape):
    """The effects of one change of a record on the one-way margins of a table."""
    cells = list(product(*map(range, shape)))
    keys = [(i, x) for i, values in enumerate(shape) for x in range(values)]
    signatures = [tuple(int(cell[i] == x) for i, x in keys) for cell in cells]
    found = {
        tuple(x - y for x, y in zip(a, b, strict=True)) for a in signatures for b in signatures
    }
    return sorted(d for d in found if any(d))


@pytest.fixture(scope="module")
def cluster():
    warm_up()
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as found:
        yield found


def killing(monkeypatch, pid):
    """Kill a worker when some tasks have come back; return the farms that were made, and whom."""
    monkeypatch.setattr(farm, "ALONE", 0.0)
    monkeypatch.setattr(farm, "EACH", 0.02)
    farms: list[farm.Farm] = []
    killed: list[int] = []

    class Killing(farm.Farm):
        def __init__(self, tree, workers):
            super().__init__(tree, workers)
            farms.append(self)

        def advance(self, nodes):
            if len(self.times) >= 3 and not killed:  # it is in the middle
                assert self.under_way and not self.split.done
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)
            return super().advance(nodes)

    monkeypatch.setattr(farm, "farmed_to", lambda workers: lambda tree: Killing(tree, workers))
    return farms, killed


@pytest.mark.wall_clock
def test_a_worker_killed_in_the_middle_costs_its_task_only(cluster, monkeypatch):
    pid = next(iter(cluster.workers.values())).process.pid
    farms, killed = killing(monkeypatch, pid)
    with searched_on(cluster.scheduler_address):
        found = longest(one_way(2, 5), time_limit=300)
    assert (found.lower, found.upper, found.complete) == (18, 18, True)
    assert killed == [pid] and farms[-1].split.complete and len(farms[-1].times) > 3


def test_the_command_asks_a_cluster(cluster, capsys, monkeypatch, tmp_path):
    """The question is put to the workers, and what they find is proved in one piece."""
    monkeypatch.setattr(farm, "ALONE", 0.0)
    monkeypatch.setattr("blowproof.verifier.engines.irreducibles.trace.PLAIN_EFFECTS", 0)
    monkeypatch.setattr("blowproof.verifier.engines.irreducibles.trace.SLICE", 20)
    policy, proof = tmp_path / "p.toml", tmp_path / "c.json"
    names = "".join(f'[[known]]\nmarginal = ["{name}"]\n' for name in "abc")
    domain = "".join(f'{name} = ["0", "1"]\n' for name in ("a", "b", "c", "name"))
    policy.write_text(f"[domain]\n{domain}{names}", encoding="utf-8")
    address = cluster.scheduler_address
    words = ["sensitivity", policy, "--scheduler", address, "--certificate", proof, "--json"]
    assert run(list(map(str, words))) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["lower"], found["upper"]) == ("proved", 20, 20)
    assert blowproof.sensitivity(policy, scheduler=address, time_limit=60).upper == 20
    assert run(["check", str(proof), "--policy", str(policy), "--query", "histogram"]) == 0


def test_a_cluster_of_another_version_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(module, "version", lambda name: "99.0")
    with pytest.raises(ClusterError, match=r"has blowproof \S+, and this is 99\.0\n  try: "):
        client_of(cluster.scheduler_address)


def test_four_processes_say_what_one_and_two_say(cluster, monkeypatch):
    """Two at first; then two more come, and then all but one go."""
    monkeypatch.setattr(farm, "ALONE", 0.0)
    monkeypatch.setattr(farm, "EACH", 0.02)
    for many in (2, 4, 1):
        cluster.scale(many)
        client = client_of(cluster.scheduler_address)
        client.wait_for_workers(many)
        client.close()
        with searched_on(cluster.scheduler_address):
            found = longest(one_way(2, 4), time_limit=300)
        assert (found.lower, found.upper, found.complete) == (12, 12, True)


class Leaving:
    """A client of a cluster one of whose workers is out of reach for so many questions."""

    def __init__(self, times: int, error: Exception) -> None:
        self.times, self.error, self.asked = times, error, 0

    def run(self, *_: object, **__: object) -> dict[str, object]:
        self.asked += 1
        told: dict[str, object] = {"a": module.version("blowproof")}
        return told if self.asked > self.times else {**told, "b": self.error}


def test_a_worker_that_is_leaving_is_not_one_of_another_version(monkeypatch):
    monkeypatch.setattr(module, "BETWEEN", 0)
    client = Leaving(3, OSError("it went away"))
    module._same_version(client)
    assert client.asked == 4
    for error in (OSError("it stays away"), LookupError("no such package")):
        with pytest.raises(ClusterError, match="the worker b has blowproof none"):
            module._same_version(Leaving(1_000, error))


# --- two networks --------------------------------------------------------------------------------


def allowed():
    """Whether network namespaces may be made here."""
    if os.name != "posix" or os.getuid() != 0 or shutil.which("ip") is None:
        return False
    made = subprocess.run(["ip", "netns", "add", "bp-probe"], capture_output=True, check=False)
    subprocess.run(["ip", "netns", "del", "bp-probe"], capture_output=True, check=False)
    return made.returncode == 0


@contextmanager
def namespaces():
    """Two network namespaces, joined by a cable: their names, and the address of the first."""
    one, two = (f"bp-{os.getpid()}-{k}" for k in (1, 2))

    def ip(*words, check=True):
        subprocess.run(["ip", *words], check=check, capture_output=True)

    try:
        for name in (one, two):
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", one, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", two)
        for name, address in ((one, "10.99.0.1/24"), (two, "10.99.0.2/24")):
            ip("-n", name, "addr", "add", address, "dev", "cable")
            ip("-n", name, "link", "set", "cable", "up")
        yield one, two, "10.99.0.1"
    finally:
        for name in (one, two):
            ip("netns", "del", name, check=False)


SCHEDULER = ["-m", "distributed.cli.dask_scheduler", "--no-dashboard", "--port", "8786"]
WORKER = ["-m", "distributed.cli.dask_worker", "tcp://10.99.0.1:8786", "--nthreads", "1"]
ASK = """
import json, os, sys
sys.path.insert(0, {folder!r})
import pytest
from test_cluster import killing, one_way
from blowproof.cli.asking.cluster import client_of, searched_on
from blowproof.verifier.engines.irreducibles import longest
client = client_of("tcp://10.99.0.1:8786")
client.wait_for_workers(2, timeout=120)
there = client.run(os.getpid)
(far,) = [pid for worker, pid in there.items() if "10.99.0.2" in worker]
with pytest.MonkeyPatch.context() as patch:
    farms, killed = killing(patch, far)
    with searched_on("tcp://10.99.0.1:8786"):
        found = longest(one_way(2, 5), time_limit=300)
print(json.dumps([found.lower, found.upper, found.complete, killed == [far]]))
"""


@pytest.mark.wall_clock
@pytest.mark.skipif(not allowed(), reason="no network namespaces may be made here")
def test_workers_across_two_networks(tmp_path):
    """The scheduler and a worker in one network; the worker in the other is killed."""
    with namespaces() as (one, two, host), ExitStack() as stack:

        def inside(name, *words):
            return ["ip", "netns", "exec", name, sys.executable, *words]

        def start(name, *words):
            process = subprocess.Popen(
                inside(name, *words),
                cwd=tmp_path,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(ended, process)
            return process

        start(one, *SCHEDULER, "--host", host)
        start(one, *WORKER, "--host", "10.99.0.1", "--no-dashboard", "--no-nanny")
        start(two, *WORKER, "--host", "10.99.0.2", "--no-dashboard", "--no-nanny")
        command = inside(one, "-c", ASK.format(folder=str(Path(__file__).parent)))
        said = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert said.stdout, said.stderr
    assert json.loads(said.stdout.splitlines()[-1]) == [18, 18, True, True]


def ended(process):
    """End a process that the test has started."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=20)
        return
    process.kill()
    process.wait()
