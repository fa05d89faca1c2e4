"""Entries of the public registry of deployments: into a policy, and back."""

import json
from fractions import Fraction

import pytest

from blowproof.cli.main import run
from blowproof.models import PolicyError
from blowproof.models.files.registry_entry import parse_entry

ENTRY = """
url_slug: households
status: Draft
tier: 3
deployment:
  product: {name: Households, data_curators: [An office]}
  dp_flavor:
    name: Zero-concentrated DP
    data_domain: a record for each household
    unprotected_quantities: |
      - how many households each region has
  privacy_loss:
    privacy_unit: household
    privacy_unit_description: one record changes
    privacy_parameters: {rho: 0.5}
  model: {model_name: Central}
"""
"""The form of 2025, as the entry of the 2020 census has it."""

LATER = """
url_slug: households
deployment:
  basic: {name: Households}
  dp_variant: {variant_name: Pure DP, unprotected_quantities: {value: region totals, page: 3}}
  privacy_loss:
    privacy_unit: household
    number_of_privacy_units: 2
    privacy_parameters: {epsilon: 1.0e-1}
  deployment_model: {model_name: Central}
"""
"""The form that came after it: other names, and texts with their source."""

POLICY = """
[domain]
region = ["north", "south"]
size = [1, 2]
[[known]]
marginal = ["region"]
"""


@pytest.fixture
def files(tmp_path):
    for name, text in (("entry.yaml", ENTRY), ("later.yaml", LATER), ("policy.toml", POLICY)):
        (tmp_path / name).write_text(text.replace("[1, 2]", '["1", "2"]'), encoding="utf-8")
    return tmp_path


def asked(capsys, *arguments):
    code = run(["audit", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


def test_what_is_missing_is_asked_for(capsys, files):
    code, out, _ = asked(capsys, files / "entry.yaml", "--from", "registry")
    assert code == 3
    assert "[domain]" in out and "households each region has" in out and "--policy FILE" in out
    code, out, _ = asked(capsys, files / "later.yaml", "--from", "registry", "--json")
    assert code == 3
    found = json.loads(out)
    assert (
        len(found["missing"]) == 3 and found["entry"]["unprotected_quantities"] == "region totals"
    )
    assert all(line.startswith(("#", "[", "kind")) for line in found["draft"].split("\n") if line)


def test_the_claim_is_judged_by_the_policy(capsys, files):
    """Noise for one record that changes, where two must: twice the rho, in squares."""
    with_policy = ("--from", "registry", "--policy", files / "policy.toml", "--json")
    code, out, _ = asked(capsys, files / "entry.yaml", *with_policy)
    (held,) = json.loads(out)["held"]
    assert (code, held["claimed"], held["lower"], held["upper"]) == (1, "1/2", "1", "1")
    assert held["witness"] is not None
    code, out, _ = asked(capsys, files / "later.yaml", *with_policy)
    (held,) = json.loads(out)["held"]  # noise for two units covers the pair
    assert (code, held["claimed"], held["upper"]) == (0, "1/10", "1/10")


def test_a_mechanism_is_judged_with_the_facts_and_without(capsys, files):
    plan = files / "plan.toml"
    plan.write_text(
        '[[release]]\nquery = "histogram"\nnoise = "discrete-gaussian"\nvariance = "2"\n',
        encoding="utf-8",
    )
    beside = ("--from", "registry", "--policy", files / "policy.toml", "--mechanism", plan)
    code, out, _ = asked(capsys, files / "entry.yaml", *beside, "--json")
    found = json.loads(out)
    assert code == 1 and found["held"] == []
    assert (found["mechanism"]["verdict"], found["mechanism"]["rho"]) == ("refuted", "1")
    assert (found["without_facts"]["verdict"], found["without_facts"]["rho"]) == ("proved", "1/2")
    code, out, _ = asked(capsys, files / "entry.yaml", *beside)
    assert "Multiply its variances by 2" in " ".join(out.split())


@pytest.mark.parametrize(
    "options",
    [(), ("--norm", "l2-squared", "--rho", "1/3"), ("--query", "histogram + 1/4*marginal(size)")],
)
def test_there_and_back(capsys, files, options):
    """What an audit writes as an entry is proved when it is read; 1/3 is rounded up."""
    code, out, _ = asked(capsys, files / "policy.toml", "--format", "registry", *options)
    assert code == 0 and out.startswith("# An entry for the public registry")
    (files / "written.yaml").write_text(out, encoding="utf-8")
    entry = parse_entry(out)
    assert entry.unit == "one record" and "region" in entry.unprotected
    assert entry.claimed >= (Fraction(1, 3) if "--rho" in options else 1)
    for beside in ((), ("--policy", files / "policy.toml")):  # its own policy, and one beside it
        again = ("--from", "registry", *beside, "--json")
        code, out, _ = asked(capsys, files / "written.yaml", *again)
        found = json.loads(out)
        assert code == 0 and found["mechanism"]["verdict"] == "proved"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ENTRY.replace("Zero-concentrated DP", "Renyi DP"), "'Renyi DP' is not compared"),
        (ENTRY.replace("model_name: Central", "model_name: Local"), "each person adds noise alone"),
        (ENTRY.replace("{rho: 0.5}", "{epsilon: 1.0}"), "there is no rho"),
        (ENTRY.replace("rho: 0.5", "rho: .nan"), "'.nan' is not a number"),
        (ENTRY.replace("rho: 0.5", "rho: 0"), "rho = 0 promises nothing"),
        (ENTRY.replace("rho: 0.5", "rho: 1e999999999"), "is not a number"),
        (LATER.replace("units: 2", "units: 0"), "not how many units of privacy"),
        (ENTRY.replace("status: Draft", "status: &a Draft\nother: *a"), "references"),
        (ENTRY.replace("tier: 3", "tier: 3\ntier: 2"), "the key 'tier' stands twice"),
        ("a: " + "[" * 50 + "]" * 50, "nested deeper"),
        ("deployment: [", "no YAML"),
        ("name: x", "no entry of the registry"),
        ("deployment: {dp_flavor: [1]}", "need a mapping"),
        ("deployment: {}", "does not say which guarantee"),
    ],
)
def test_what_an_entry_cannot_say_is_named(text, said):
    with pytest.raises(PolicyError) as error:
        parse_entry(text)
    assert said in str(error.value) and "try:" in str(error.value)


def test_words_of_an_entry_never_become_toml():
    """A line that looks like a fact stays a comment of the draft."""
    entry = parse_entry(ENTRY.replace("- how many", "x\n      [[known]]\n      - how many"))
    lines = entry.draft().splitlines()
    assert "#   [[known]]" in lines and "[[known]]" not in lines


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--policy", "p.toml"), "--policy goes with --from registry"),
        (("--from", "registry", "--rho", "1"), "--from registry compares what is claimed"),
        (("--from", "opendp", "--policy", "p.toml"), "leave --policy out"),
        (("--from", "opendp", "--norm", "linf", "--claimed", "2"), "--claimed and --norm linf out"),
        (("--from", "registry", "--format", "sarif"), "leave --format sarif out"),
        (("--norm", "range", "--format", "registry"), "how much noise is added"),
        (("--query", "histogram", "--query", "count(x)", "--format", "registry"), "count(x)"),
    ],
)
def test_what_does_not_go_together_is_refused(capsys, files, arguments, said):
    code, out, err = asked(capsys, files / "policy.toml", *arguments)
    assert (code, out) == (2, "") and said in err
