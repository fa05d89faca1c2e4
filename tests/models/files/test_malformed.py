"""Every file in policies/malformed holds one mistake; its .txt holds the complete message."""

from pathlib import Path

import pytest

from blowproof.models import PolicyError
from blowproof.models.files.reading import read_policy

FOLDER = Path(__file__).parents[2] / "policies" / "malformed"
FILES = sorted(FOLDER.glob("*.toml"))


def test_there_are_enough_files_and_each_has_its_message() -> None:
    assert len(FILES) >= 45
    assert {path.stem for path in FILES} == {path.stem for path in FOLDER.glob("*.txt")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_message(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    with pytest.raises(PolicyError) as caught:
        read_policy(path.name)
    assert f"{caught.value}\n" == path.with_suffix(".txt").read_text(encoding="utf-8")
    assert "\n  try: " in str(caught.value)
