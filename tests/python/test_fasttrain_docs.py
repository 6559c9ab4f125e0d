"""The pages of Python code in the documentation run as they stand."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [
    pytest.param(code, id=f"{path}-{number}")
    for path in ("README.md", "docs/python.md")
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / path).read_text(), re.DOTALL))
]


def test_there_are_pages():
    assert len(PAGES) >= 2


@pytest.mark.parametrize("code", PAGES)
def test_page_runs(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "page", "exec"), {})
    assert "decision" in capsys.readouterr().out
