"""`blowproof encode`: independent solvers find in the files what plain enumeration finds."""

import json
import tempfile
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from pysat.formula import CNF
from pysat.solvers import Solver

from blowproof.cli.main import run
from blowproof.models import (
    BlowproofError,
    BudgetError,
    Count,
    Domain,
    Integers,
    Labels,
    Marginal,
    Move,
    Policy,
    QueryError,
    UndeterminedError,
    parse_query,
    setting,
)
from blowproof.models.policy.readings import LABELLED, is_labelled
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.databases.consistency import prepare, size_range
from blowproof.verifier.export.files import encode
from refusals import refuse
from solvers import scale
from strategies import worlds

MOST_PAIRS = 10_000
ROOT = Path(__file__).resolve().parents[3]


# --- what enumeration says -----------------------------------------------------------------------


def labelled_changes(found, query, reading, size):
    """||f(D1) - f(D2)||_1 of all pairs of databases of n records, minimal or not."""
    points = [x for x in found.domain.points() if x not in found.impossible]
    databases = [d for d in product(points, repeat=size) if found.satisfied_by(d)]
    changes = []
    for first, second in product(databases, databases):
        moved = [(x, y) for x, y in zip(first, second, strict=True) if x != y]
        secret = [found.graph.is_edge(x, y) for x, y in moved]
        allowed = all(secret) if reading == "secret-moves" else True
        if any(secret) and allowed and same_answers(found, first, second):
            moves = [Move(*move, i) for i, move in enumerate(zip(first, second, strict=True))]
            changes.append(query.difference(m for m in moves if m.before != m.after))
    return changes


def unlabelled_changes(found, query, reading, largest):
    """The same for databases without labels that hold at most `largest` records."""
    points = [x for x in found.domain.points() if x not in found.impossible]
    databases = []
    for size in range(largest + 1):
        listed = combinations_with_replacement(points, size)
        databases += [Counter(d) for d in listed if found.satisfied_by(d)]
        assume(len(databases) <= 300)
    changes = []
    for first, second in product(databases, databases):
        gone, come = first - second, second - first
        number = gone.total() + come.total()
        if number and (reading == "add-remove" or (number <= 4 and all_ones(gone, come))):
            moves = [Move(x, None) for x in gone.elements()]
            changes.append(query.difference(moves + [Move(None, x) for x in come.elements()]))
    return changes


def all_ones(*counters):
    return all(times == 1 for counter in counters for times in counter.values())


def same_answers(found, first, second):
    """Under scope "any" the answers are free, but the same."""
    return all(
        sum(map(fact.coefficient, first)) == sum(map(fact.coefficient, second))
        for fact in found.equalities
    )


# --- what independent solvers say of the files ---------------------------------------------------


def satisfiable(made):
    """Read the DIMACS back; return the solution as databases, or None."""
    with Solver(name="cadical195", bootstrap_with=CNF(from_string=made.text)) as solver:
        if not solver.solve():
            return None
        true = {code for code in solver.get_model() if code > 0}
    sides: dict[str, dict] = {"before": {}, "after": {}}
    for code, meaning in made.variables.items():
        if int(code) in true and "value" in meaning:
            sides[meaning["when"]][meaning["record"]] = tuple(meaning["value"])
    return sides


def optimum(made):
    """The optimum that HiGHS (the one inside scipy) finds, or None if there is no solution."""
    core = pytest.importorskip("scipy.optimize._highspy._core")
    solver = core._Highs()
    solver.setOptionValue("output_flag", False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"model.{made.format}")
        path.write_text(made.text, encoding="ascii")
        assert solver.readModel(str(path)) == core.HighsStatus.kOk
    solver.run()
    if solver.getModelStatus() != core.HighsModelStatus.kOptimal:
        assert solver.getModelStatus() == core.HighsModelStatus.kInfeasible
        return None
    assert set(made.variables) | {"one"} == set(solver.getLp().col_names_)
    return round(solver.getInfo().objective_function_value)


def prepared(world, reading, answers=None):
    try:
        return prepare(setting(world.policy, answers), reading)
    except BlowproofError as error:
        refuse(error)


QUERIES = st.sampled_from(["histogram", "marginal", "sum"])


def drawn_query(name, policy):
    attribute = policy.domain.names[0]
    numeric = not isinstance(policy.domain[attribute], Labels)
    if name == "sum" and not numeric:
        name = "marginal"
    return parse_query("histogram" if name == "histogram" else f"{name}({attribute})", policy)


@settings(max_examples=25)
@given(worlds(scope="given", max_values=6, max_records=3), st.sampled_from(LABELLED), QUERIES)
def test_dimacs_is_satisfiable_exactly_when_enumeration_finds_a_pair(world, reading, name):
    found = prepared(world, reading)
    query = drawn_query(name, world.policy)
    assume(found.domain.size ** (2 * found.size) <= MOST_PAIRS)
    changes = labelled_changes(found, query, reading, found.size)
    best = max(changes, default=None)
    for at_least in {None, best, None if best is None else best + Fraction(1, 3)}:
        made = encode(world.policy, query, format="dimacs", reading=reading, at_least=at_least)
        solution = satisfiable(made)
        assert (solution is not None) == (
            best is not None and (at_least is None or at_least <= best)
        )
        if solution is not None and at_least is not None:
            assert change(world.policy.domain, query, solution) == best


def change(domain, query, solution):
    moves = [
        Move(domain.encode(x), domain.encode(solution["after"][record]), record - 1)
        for record, x in solution["before"].items()
    ]
    return query.difference(move for move in moves if move.before != move.after)


@settings(max_examples=25)
@given(
    worlds(
        scope="given",
        max_values=5,
        max_records=3,
        kinds=("count", "marginal", "bound"),
    ),
    st.sampled_from(["published", "secret-moves", "add-remove", "markov"]),
    st.sampled_from(["lp", "mps"]),
    QUERIES,
)
def test_programs_have_the_optimum_of_enumeration(world, reading, form, name):
    found = prepared(world, reading)
    query = drawn_query(name, world.policy)
    high = size_range(found, reading)[1]
    if high is None or high > 4:
        reject()
    if is_labelled(reading):
        assume(found.domain.size ** (2 * high) <= MOST_PAIRS)
        changes = labelled_changes(found, query, reading, high)
    else:
        changes = unlabelled_changes(found, query, reading, high)
    best = max(changes, default=None)
    made = encode(world.policy, query, format=form, reading=reading)
    if best == 0:  # a move that changes nothing need not be there
        assert optimum(made) in (None, 0)
        return
    assert optimum(made) == (None if best is None else best * scale(made))
    if best is not None:
        assert optimum(ask(world.policy, query, form, reading, best)) == best * scale(made)
        assert optimum(ask(world.policy, query, form, reading, best + Fraction(1, 2))) is None


def ask(policy, query, form, reading, at_least):
    return encode(policy, query, format=form, reading=reading, at_least=at_least)


TABLE = Domain(a=Labels(["x", "y"]), b=Labels(["p", "q", "r"]))
MARGINS = Policy(domain=TABLE, known=(Marginal(["a"]), Marginal(["b"])))


FREE = Domain(a=Labels(["x", "y"]), b=Labels(["p", "q"]), c=Labels(["s", "t"]))


def test_scope_any_has_free_sizes_up_to_what_neighbours_move():
    """As many records move as in the longest irreducible multiset, 4 of them with 2 x 2 margins.

    With two values in each cell nothing cancels, and the optimum is S; else it is no less.
    """
    free = Policy(domain=FREE, known=MARGINS.known)
    assert optimum(encode(free, format="lp")) == sensitivity(free).upper == 8
    assert optimum(encode(MARGINS, format="lp")) >= sensitivity(MARGINS).upper == 8


def test_scope_any_for_added_and_removed_records():
    """The Graver moves of 2 x 3 are the cycles of K(2, 3), all of them of length 4."""
    made = encode(MARGINS, format="mps", reading="add-remove")
    assert optimum(made) == sensitivity(MARGINS, reading="add-remove").upper == 4


def test_scope_any_with_a_number_of_records():
    query = parse_query("histogram", MARGINS)
    best = max(labelled_changes(setting(MARGINS), query, "published", 2))
    assert optimum(encode(MARGINS, format="mps", records=2)) == best == 4
    assert satisfiable(encode(MARGINS, format="dimacs", records=2, at_least=best)) is not None
    assert satisfiable(encode(MARGINS, format="dimacs", records=2, at_least=best + 1)) is None


def test_nothing_known_to_move_is_infeasible():
    one = Policy(domain=Domain(a=Labels(["x"])))
    assert optimum(encode(one, format="lp")) is None
    assert satisfiable(encode(one, format="dimacs", records=2)) is None
    assert satisfiable(encode(MARGINS, format="dimacs", records=0)) is None
    assert satisfiable(encode(MARGINS, format="dimacs", records=1)) is None


def test_a_domain_beyond_listing_is_encoded_by_representatives():
    wide = Policy(
        domain=Domain(a=Integers(0, 10**9), b=Labels(["p", "q"])), known=(Count({"b": "p"}),)
    )
    solution = satisfiable(encode(wide, format="dimacs", records=3, at_least=6))
    assert solution is not None
    assert satisfiable(encode(wide, format="dimacs", records=3, at_least=7)) is None


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"format": "dimacs"}, UndeterminedError, "--records N, or --format lp"),
        ({"format": "dimacs", "reading": "markov", "records": 2}, QueryError, "--format lp"),
        ({"format": "dimacs", "records": 10**5}, BudgetError, "literals"),
        ({"format": "lp", "at_least": -1}, QueryError, "0 or more"),
    ],
)
def test_what_has_no_model_is_refused(options, error, says):
    with pytest.raises(error, match=says):
        encode(MARGINS, **options)


# --- the command ---------------------------------------------------------------------------------

EXAM = str(ROOT / "examples" / "exam_queue.toml")


def said(capsys, *arguments):
    code = run([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def test_command_writes_the_model_and_its_map(capsys, tmp_path):
    model, meanings = tmp_path / "exam.cnf", tmp_path / "exam.json"
    code, out, err = said(
        capsys, "encode", EXAM, "--format", "dimacs", "--output", model, "--map", meanings
    )
    assert (code, out, err) == (0, "", "")
    text = model.read_text(encoding="ascii")
    assert "\nc 1 record 1 before = 0\n" in text
    written = json.loads(meanings.read_text(encoding="ascii"))
    assert (written["schema"], written["model"]) == ("blowproof/encode/1", None)
    assert written["variables"]["1"] == {
        "means": "record 1 before = 0",
        "record": 1,
        "when": "before",
        "value": [0],
    }
    code, out, err = said(capsys, "encode", EXAM, "--format", "dimacs")
    assert (code, out, err) == (0, text, "")


def test_command_json_is_one_document(capsys):
    code, out, err = said(capsys, "encode", EXAM, "--format", "dimacs", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["format"], found["answers"], found["query"]) == ("dimacs", "given", "histogram")
    assert CNF(from_string=found["model"]).nv >= len(found["variables"])


def test_clauses_have_no_program_and_exit_2(capsys):
    code, out, err = said(capsys, "encode", EXAM, "--format", "lp")
    assert (code, out) == (2, "")
    assert "try: --format dimacs" in err
    census = ROOT / "examples" / "census.toml"
    code, out, err = said(capsys, "encode", census, "--format", "dimacs", "--records", 10**6)
    assert (code, out) == (2, "")
    assert "try:" in err
