"""Fingerprints of data: equal iff the data are, and nothing to anybody without the key."""

import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from blowproof.mechanisms.base.errors import LedgerError
from blowproof.mechanisms.budget.fingerprints import another_key, fingerprint
from blowproof.mechanisms.budget.heads import Head, keep_head, known_heads
from blowproof.mechanisms.budget.places import heads_place
from blowproof.models.data.content import content_of


@pytest.fixture
def data(tmp_path):
    place = tmp_path / "d.csv"
    place.write_text("sex,age\nF,1\nM,2\n")
    return place


def test_equal_iff_the_data_are(data, tmp_path):
    told = fingerprint(data)
    same, other = tmp_path / "same.csv", tmp_path / "other.csv"
    same.write_text("AGE,sex\n2,m\n1,f\n")  # as contents are compared
    other.write_text("sex,age\nF,1\nM,3\n")
    assert fingerprint(same) == told == fingerprint(data)
    assert fingerprint(other) != told and not another_key(fingerprint(other), told)


def test_under_another_key_it_is_another_one(data, tmp_path, monkeypatch):
    told = fingerprint(data)
    monkeypatch.setenv("BLOWPROOF_STATE", str(tmp_path / "second"))
    now = fingerprint(data)
    assert now != told and another_key(told, now)
    assert now.split(":")[2] != told.split(":")[2]
    assert content_of(data).digest not in now


def test_the_key_is_made_once_though_many_ask_at_once(data):
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(fingerprint, [data] * 4))) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no such rights there")
def test_the_key_lies_beside_the_heads_for_its_user_alone(data):
    keep_head(Head("name", "place", 1, "hash"))
    told = fingerprint(data)
    assert stat.S_IMODE(heads_place().stat().st_mode) == 0o600
    keep_head(Head("name", "place", 2, "longer"))
    assert [head.count for head in known_heads()] == [2] and fingerprint(data) == told


def test_a_key_that_cannot_be_kept_or_read_is_an_error(data, tmp_path, monkeypatch):
    monkeypatch.setenv("BLOWPROOF_STATE", str(data))  # a file
    with pytest.raises(LedgerError, match="BLOWPROOF_STATE=FOLDER"):
        fingerprint(data)
    folder = tmp_path / "state"
    folder.mkdir()
    (folder / "heads.sqlite").write_bytes(os.urandom(4096))
    monkeypatch.setenv("BLOWPROOF_STATE", str(folder))
    with pytest.raises(LedgerError, match=r"heads\.sqlite: the key for fingerprints"):
        fingerprint(data)
