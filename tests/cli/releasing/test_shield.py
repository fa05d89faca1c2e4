"""From the charge on nothing stops a release: what is paid for is written."""

import os
import signal

import pytest

from blowproof.cli.main import run
from blowproof.cli.releasing.shield import Charged, Shield
from blowproof.mechanisms.budget.accountant import Accountant
from blowproof.mechanisms.release.release import NO_ACCOUNT

WORDS = ["release", "p.toml", "d.csv", "--epsilon", "1", "--budget", "1", "--output", "out.csv"]


@pytest.fixture
def office(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BLOWPROOF_LEDGER", str(tmp_path / "ledger.sqlite"))
    (tmp_path / "p.toml").write_text('[domain]\nsex = ["F", "M"]\n')
    (tmp_path / "d.csv").write_text("sex\n" + "F\nM\n" * 50)
    return tmp_path


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_after_the_charge_loses_nothing(office, monkeypatch, capsys, name):
    """The budget was spent, and no answer was written."""
    spend = Accountant.spend

    def interrupted(*args):
        notes = spend(*args)
        os.kill(os.getpid(), getattr(signal, name))
        return notes

    monkeypatch.setattr(Accountant, "spend", interrupted)
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert run(WORDS) == 0
    assert (office / "out.csv").exists() and (office / "out.csv.meta.json").exists()
    assert f"{name} came after the charge" in capsys.readouterr().err
    after = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert before[0] is after[0]


def test_a_signal_before_the_charge_spends_nothing(office, monkeypatch, capsys):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("blowproof.cli.releasing.carrying_out._load", interrupted)
    assert run(WORDS) not in (0, 1)
    assert not (office / "out.csv").exists() and not (office / "ledger.sqlite").exists()
    assert "after the charge" not in capsys.readouterr().err


def test_without_a_shield_or_an_account_nothing_changes():
    assert Charged(None, None).spend(None, "laplace", None) == (NO_ACCOUNT,)  # type: ignore[arg-type]
    assert Charged(None, None).number is None
    before = signal.getsignal(signal.SIGINT)
    with Shield() as shield:
        shield.tell()
        assert signal.getsignal(signal.SIGINT) is before
        shield.raise_up()
        os.kill(os.getpid(), signal.SIGINT)
        assert shield.heard == ["SIGINT"]
    assert signal.getsignal(signal.SIGINT) is before
