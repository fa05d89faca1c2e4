"""Adding a kind touches few files: one of each, written into a temporary folder and made known.

A secret kind and a query kind are one file and a line each (`register`), an engine a file and a
line in the registry, a norm a file and a line, a kind of proof a file in the kernel and a line in
its table. What follows from that is asked here: policy files, words, the schema, brute force and
the search, certificates, releases.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import pytest

from blowproof.cli.main import run
from blowproof.models import Policy, QueryError, parse_query
from blowproof.models.base.errors import PolicyError
from blowproof.models.files.policy_schema import schema
from blowproof.models.files.reading import parse_policy
from blowproof.models.files.writing import to_toml
from blowproof.models.policy.in_words import secret_words
from blowproof.models.queries import kinds as query_kinds
from blowproof.models.secrets import kinds as secret_kinds
from blowproof.verifier import kernel, plan
from blowproof.verifier.ask import certified, sensitivity
from blowproof.verifier.portfolio import registry
from blowproof.verifier.portfolio.strategy import Strategy

PARITY = '''
"""Values whose positions add up to numbers of the same parity are a secret."""

from dataclasses import dataclass

from blowproof.models.secrets import RuleGraph, SecretsSpec
from blowproof.models.base.toml_values import flag, within


@dataclass(frozen=True)
class ParityGraph(RuleGraph):
    domain: object
    odd: bool

    def is_edge(self, x, y):
        return x != y and (sum(x) + sum(y)) % 2 == self.odd


@dataclass(frozen=True, repr=False)
class Parity(SecretsSpec):
    """Values of the same parity are a secret."""

    odd: bool = False
    kind = "parity"
    keys = ("odd",)

    @classmethod
    def read(cls, items):
        with within("odd"):
            return cls(flag(items["odd"])) if "odd" in items else cls()

    def bind(self, domain):
        return ParityGraph(domain, self.odd)

    def spec(self):
        return {"kind": self.kind, "odd": self.odd}
'''

SQUARES = '''
"""The sum of the squares of an attribute's positions."""

from dataclasses import dataclass

from blowproof.models.queries.arguments import query_name
from blowproof.models.queries.outputs import Outputs
from blowproof.models.queries.query import BoundQuery


@dataclass(frozen=True, repr=False)
class Squares(BoundQuery):
    axis: int
    name: str = "squares"

    @classmethod
    def parse(cls, kind, arguments, policy):
        return cls(policy.domain.axis(arguments[0]), query_name(kind, arguments))

    def row(self, point):
        return {0: point[self.axis] ** 2}

    def outputs(self, domain):
        return Outputs(1, lambda key: 0)
'''

if TYPE_CHECKING:
    from blowproof.verifier.asked.names import Engine

POLICY = """
[domain]
age = { min = 0, max = 3 }
sex = ["F", "M"]
[secrets]
kind = "parity"
[database]
size = 3
[[known]]
count = { age = { min = 2 } }
answer = 1
"""


def module_from(folder: Path, name: str, text: str) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    found = module_from_spec(spec)
    sys.modules[name] = found  # dataclasses look their module up
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Policy:
    """A policy with a kind of secrets, and queries of a kind, that nobody else knows."""
    monkeypatch.setattr(secret_kinds, "KINDS", dict(secret_kinds.KINDS))
    monkeypatch.setattr(query_kinds, "FORMS", dict(query_kinds.FORMS))
    monkeypatch.setattr("blowproof.models.files.policy_schema.KINDS", secret_kinds.KINDS)
    secret_kinds.register(module_from(tmp_path, "parity_secrets", PARITY).Parity)
    query_kinds.register("squares(A)", module_from(tmp_path, "squares_query", SQUARES).Squares)
    return parse_policy(POLICY)


def test_before_they_are_made_known_they_are_refused():
    with pytest.raises(PolicyError, match="'parity' is not a kind"):
        parse_policy(POLICY)
    plain = parse_policy(POLICY.replace("parity", "full"))
    with pytest.raises(QueryError, match="there is no query 'squares'"):
        parse_query("squares(age)", plain)


def test_a_kind_of_secrets_is_read_written_and_said(added: Policy):
    assert added.secrets.spec() == {"kind": "parity", "odd": False}
    assert added.graph.is_edge((0, 0), (2, 0)) and not added.graph.is_edge((0, 0), (1, 0))
    again = parse_policy(to_toml(added))
    assert (again.secrets, again.graph) == (added.secrets, added.graph)
    assert "parity" in secret_words(added)
    (kind,) = [item for item in schema()["properties"]["secrets"]["oneOf"]  # type: ignore[index,call-overload]
               if item["title"] == "Parity"]  # fmt: skip
    assert list(kind["properties"]) == ["kind", "odd"]
    with pytest.raises(PolicyError, match="'odd' does not belong to kind"):
        parse_policy(POLICY.replace('kind = "parity"', 'kind = "full"\nodd = true'))
    with pytest.raises(PolicyError, match=r"secrets\.odd"):
        parse_policy(POLICY.replace('kind = "parity"', 'kind = "parity"\nodd = 3'))


@pytest.mark.parametrize("query", ["squares(age)", "histogram", "cumulative(age)", "sum(age)"])
@pytest.mark.parametrize("reading", ["published", "secret-moves", "add-remove", "markov"])
def test_engines_agree_about_what_they_have_never_seen(added: Policy, query: str, reading):
    brute = sensitivity(added, query, reading=reading, engine="brute")
    found = sensitivity(added, query, reading=reading)
    assert (found.lower, found.status) == (brute.lower, "exact")
    assert brute.upper == brute.lower


def test_the_search_agrees_with_listing_for_any_answers(added: Policy):
    by_search = sensitivity(added, "squares(age)", reading="secret-moves", answers="any",
                            engine="search")  # fmt: skip
    by_ilp = sensitivity(added, "squares(age)", reading="secret-moves", answers="any", engine="ilp")
    assert by_search.lower > 0
    assert by_search.upper == by_ilp.lower == by_ilp.upper == by_search.lower


@pytest.mark.parametrize("query", ["squares(age)", "histogram"])
def test_no_certificate_is_written_for_what_the_kernel_does_not_know(added: Policy, query: str):
    answer, certificate = certified(added, query)
    assert (answer.status, certificate.document) == ("exact", None)
    assert certificate.reason == "the kernel knows no secrets of the kind parity"
    plain = parse_policy(POLICY.replace("parity", "full"))
    answer, certificate = certified(plain, "squares(age)")
    assert (answer.status, certificate.document) == ("exact", None)
    assert certificate.reason == "the kernel knows no query squares"


def test_a_query_made_elsewhere_is_counted_in_data(added: Policy, tmp_path: Path):
    from blowproof.mechanisms.answers.true_answers import true_answers
    from blowproof.models.data.dataset import Dataset

    path = tmp_path / "people.csv"
    path.write_text("age,sex\n3,F\n1,M\n0,M\n", encoding="utf-8")
    assert list(true_answers("squares(age)", added, Dataset(path, added.domain))) == [10]


TOLD = """
def told(question):
    return question.answer(0, 18, "somebody told me", engine="told")
"""


@pytest.mark.parametrize(("kind", "table"), [("theorem", "THEOREMS"), ("engine", "ENGINES")])
def test_an_engine_or_a_theorem_is_a_file_and_a_line(
    added: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any, table: str
) -> None:
    line = Strategy("told", kind, "what somebody told me", module_from(tmp_path, "t", TOLD).told)
    for place in (registry, plan):  # where the table is, and where it is read
        monkeypatch.setattr(place, table, (line, *getattr(registry, table)))
    assert [step.strategy for step in plan.plan(question_of(added)) if step.applies].count(line)
    exact = sensitivity(added, "squares(age)")
    assert exact.status == "exact" and exact.upper is not None and exact.upper <= 18
    alone = sensitivity(added, "squares(age)", engine=cast("Engine", "told"))
    assert (alone.upper, alone.engine) == (18, "told")


def test_an_engine_of_its_own_is_asked_from_the_command_line(
    added: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Its line in the registry is enough: `--engine` looks there for names it does not know."""
    line = Strategy("told", "engine", "what I was told", module_from(tmp_path, "t", TOLD).told)
    (tmp_path / "odd.toml").write_text(POLICY, encoding="utf-8")
    words = ["sensitivity", str(tmp_path / "odd.toml"), "--query", "squares(age)", "--json"]
    assert run([*words, "--engine", "told"]) == 2
    assert "'told' is not one of" in capsys.readouterr().err
    monkeypatch.setattr(registry, "ENGINES", (line, *registry.ENGINES))
    assert run([*words, "--engine", "told"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["engine"], found["upper"]) == ("told", 18)


def question_of(policy: Policy):
    from blowproof.models import setting
    from blowproof.verifier.asked.question import Question
    from blowproof.verifier.databases.consistency import prepare

    prepared = prepare(setting(policy, None), "published")
    return Question(prepared, parse_query("squares(age)", policy), "published", None)


TRIPLED = '''
"""Three times l1: for noise of a third of the scale."""

from blowproof.models.norms import NORMS
from blowproof.models.norms.l1 import L1


class _Tripled(type(L1)):
    name = "l1-tripled"

    def of(self, changes):
        return 3 * super().of(changes)

    def gain(self, linear, outputs, *, still):
        outputs = [(change, 3 * times) for change, times in outputs]
        return super().gain(linear, outputs, still=still)


NORMS["l1-tripled"] = _Tripled()
'''

ASKED = """
import json
import tripled_norm
from blowproof.models import QueryError
from blowproof.models.files.reading import parse_policy
from blowproof.verifier.ask import sensitivity

policy = parse_policy(POLICY)
found = {}
for query in ("histogram", "cumulative(age)", "sum(age)"):
    for engine in ("brute", "auto", "search", "ilp"):
        told = sensitivity(policy, query, norm="l1-tripled", engine=engine)
        found[f"{query} {engine}"] = [int(told.lower), int(told.upper)]
    found[f"{query} l1"] = [3 * int(sensitivity(policy, query).lower)] * 2
try:
    sensitivity(policy, "histogram", norm="l1-tripled", engine="sat")
except QueryError as error:
    found["sat"] = str(error)
print(json.dumps(found))
"""


def test_a_norm_is_a_file_and_a_line(tmp_path: Path):
    """In a process of its own: strategies ask at once which norms there are.

    What does not know the norm says so, and answers nothing by the rules of another one.
    """
    (tmp_path / "tripled_norm.py").write_text(TRIPLED, encoding="utf-8")
    policy = POLICY.replace("parity", "full")
    (tmp_path / "asked.py").write_text(f"POLICY = {policy!r}\n{ASKED}", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "asked.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "it is about l1 and l2-squared" in found.pop("sat")
    for query in ("histogram", "cumulative(age)", "sum(age)"):
        told = {name: value for name, value in found.items() if name.startswith(query)}
        assert len(set(map(tuple, told.values()))) == 1, told


def test_a_kind_of_proof_is_a_file_and_a_line(tmp_path: Path):
    """In a copy of the kernel's folder, which runs by itself."""
    folder = tmp_path / "kernel"
    shutil.copytree(Path(kernel.__file__).parent, folder)
    (folder / "proofs" / "listed_again.py").write_text(
        "from .every_database import refute as listed\n\n\n"
        "def refute(world, proof, value):\n"
        "    listed(world, {'kind': 'every-database'}, value)\n",
        encoding="utf-8",
    )
    policy = parse_policy(POLICY.replace("parity", "full"))
    answer, found = certified(policy, "histogram")
    assert answer.status == "proved" and found.document is not None
    document = {**found.document, "proof": {"kind": "listed-again"}}
    path = tmp_path / "listed.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert "no proof of this kind" in checked(folder, path)
    table = folder / "check.py"
    text = table.read_text(encoding="utf-8")
    line = 'KINDS = {\n    "listed-again": "listed_again",\n'
    table.write_text(text.replace("KINDS = {\n", line, 1), encoding="utf-8")
    assert "accepted" in checked(folder, path)
    path.write_text(json.dumps({**document, "value": 99}), encoding="utf-8")
    assert "accepted" not in checked(folder, path)


def checked(folder: Path, path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", folder.name, str(path)],
        cwd=folder.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr
