"""Plans in Python are the program's plans."""

import json
import pathlib
import subprocess

import fasttrain as ft
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MACHINES = sorted((ROOT / "tests/machines").glob("*.facts"))


def program(*arguments):
    tool = pathlib.Path(ft.__file__).parent / "bin" / "fasttrain"  # the C++ program, which the package carries
    return subprocess.run([tool, "plan", *arguments], capture_output=True, text=True, timeout=60)


def test_there_are_recorded_machines():
    assert len(MACHINES) >= 10


@pytest.mark.parametrize("machine", MACHINES, ids=lambda path: path.stem)
def test_text_equals_the_programs_for_every_recorded_machine(machine):
    printed = program("--machine", machine)
    try:
        plan = ft.plan(machine=machine, allow_process_settings=True)
    except ft.Error as error:
        assert printed.stderr == f"fasttrain: {error}\n"
    else:
        assert printed.stdout == str(plan)


@pytest.mark.parametrize("machine", [m for m in MACHINES if m.stem.startswith(("cpu-a", "h100"))], ids=lambda path: path.stem)
def test_dictionary_equals_the_programs_json(machine):
    rows = json.loads(program("--machine", machine, "--json", "--set", "precision=fp32").stdout)
    plan = ft.plan(machine=machine, allow_process_settings=True, precision="fp32").to_dict()
    assert [{"decision": key, **row} for key, row in plan.items()] == rows
    assert plan["precision"]["source"] == "asked"


def test_text_equals_the_programs_for_this_machine():
    assert str(ft.plan(allow_process_settings=True)) == program().stdout


def test_process_settings_are_made_only_when_asked():
    machine = ROOT / "tests/machines/cpu-amx.facts"
    row = ft.plan(machine=machine).to_dict()["allocator"]
    assert row["value"] == "unchanged" and "cannot be undone" in row["reason"]
    assert ft.plan(machine=machine, allocator="glibc_thresholds").to_dict()["allocator"]["source"] == "asked"


def test_html_is_a_table_with_escaped_text(tmp_path):
    text = (ROOT / "tests/machines/cpu-amx.facts").read_text()
    old = next(line for line in text.splitlines() if line.startswith("host.libc"))
    facts = tmp_path / "odd.facts"
    facts.write_text(text.replace(old, 'host.libc = "glibc <2>"'))
    html = ft.plan(machine=facts, allow_process_settings=True)._repr_html_()
    assert html.startswith("<table>\n<tr><th>decision</th>") and html.endswith("</table>\n")
    assert "glibc &lt;2&gt;" in html and "<2>" not in html


def test_a_misspelt_keyword_names_the_nearest():
    with pytest.raises(ft.InvalidOption, match=r'^\[plan.set\] no such option: key="precison", .*did you mean precision\?$'):
        ft.plan(precison="bf16")
    with pytest.raises(ft.InvalidOption, match=r"did you mean seed\?"):
        ft.Runtime(sed=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "bf17"}, r'precision="bf17", expected fp32, tf32, bf16 or fp16'),
        ({"threads": 0}, r'threads="0", expected 1 to 8192'),
        ({"threads": True}, r'threads="on", expected'),
        ({"seed": -1}, r'seed="-1", expected 0 to'),
        ({"seed": "1"}, r'seed="1", expected 0 to'),
        ({"seed": 2**64}, r"seed="),
        ({"allow_process_settings": 1}, r'allow_process_settings="1", expected True or False'),
    ],
)
def test_values_out_of_range_are_named(options, message):
    with pytest.raises(ft.InvalidOption, match=message):
        ft.plan(**options)


def test_none_leaves_the_choice_to_the_machine():
    assert ft.plan(precision=None, seed=None, threads=None) == ft.plan()
    assert ft.plan(precision="fp32") != ft.plan(precision="bf16", device="cpu")


def test_a_file_with_something_else_is_refused_where_it_goes_wrong(tmp_path):
    facts = tmp_path / "bad.facts"
    header = MACHINES[0].read_bytes().split(b"\n")[0] + b"\n"
    facts.write_bytes(header + b"host.nonsense = 1\n")
    with pytest.raises(ft.BadFile) as caught:
        ft.plan(machine=facts)
    assert caught.value.filename == str(facts) and caught.value.offset == len(header)
    with pytest.raises(FileNotFoundError):
        ft.plan(machine=tmp_path / "missing.facts")


def test_the_typed_keywords_are_those_there_are():
    from fasttrain._native import option_help
    from fasttrain._runtime import PlanOptions

    assert [line.split(":")[0] for line in option_help().splitlines()] == list(PlanOptions.__annotations__)
    assert "precision: " in ft.Runtime.__doc__
