"""The table of docs/benchmarks.md. What stands outside the two marks is by hand and kept."""

import pathlib

from harness.maths import Goal

BEGIN = "<!-- written by ./dev bench: begin -->"
END = "<!-- written by ./dev bench: end -->"
HEAD = """\
| work | against | ours | theirs | ratio (least to most) | goal | | largest difference |
|---|---|---|---|---|---|---|---|"""


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def verdict(ratio: float, goal: Goal | None) -> str:
    if goal is None:
        return ""
    return "met" if goal.is_met(ratio) else f"missed by {goal.shortfall(ratio):.0%}"


def goal_of(peer: dict) -> Goal | None:
    return Goal(**peer["goal"]) if peer["goal"] else None


def table_lines(row: dict) -> list[str]:
    """The row's lines, one for each peer."""
    if "not_run" in row:
        return [line(row["title"], "", "", "", f"not run: {row['not_run']}", "", "", "")]
    lines = []
    for index, peer in enumerate(row["peers"]):
        title = row["title"] if index == 0 else ""
        goal = goal_of(peer)
        if "failed" in peer:
            reason = f"does not count: {peer['failed'].splitlines()[0]}"
            lines.append(line(title, peer["label"], "", "", reason, goal or "", "", ""))
            continue
        ours, theirs = (_with_unit(side, row["unit"]) for side in (row["ours"], peer))
        ratio = peer["ratio"]
        shown = f"**{ratio['median']:.2f}×** ({ratio['least']:.2f} to {ratio['most']:.2f})"
        met, difference = verdict(ratio["median"], goal), f"{peer['largest_difference']:.1e}"
        lines.append(line(title, peer["label"], ours, theirs, shown, goal or "", met, difference))
    return lines


def line(*cells) -> str:
    """A row of a table."""
    return "| " + " | ".join(str(cell).replace("|", "/") for cell in cells) + " |"


def _with_unit(side: dict, unit: str) -> str:
    return f"{number(side['figure']['median'])} {unit}"


def _sides(row: dict) -> list[str]:
    lines = []
    for side in [row["ours"], *(peer for peer in row["peers"] if "failed" not in peer)]:
        least, most = number(side["figure"]["least"]), number(side["figure"]["most"])
        facts = [
            f"{_with_unit(side, row['unit'])} ({least} to {most})",
            _listed(side["flags"]),
            f"peak memory {side['peak_mb']:,.0f} MB" if side["peak_mb"] else "",
            _listed(side["versions"]),
        ]
        lines.append(f"  - {side['label']}: {'; '.join(filter(None, facts))}")
    return lines


def _listed(facts: dict) -> str:
    return ", ".join(f"{name} {value}" for name, value in facts.items())


def text(results: dict) -> str:
    """The generated part, marks included."""
    machine = results["machine"]
    flags = ", ".join(machine["flags"])
    lines = [
        BEGIN,
        f"{results['date']}, {machine['cores']} cores of {machine['cpu']} ({flags}), "
        f"{machine['memory_gb']} GB, {machine['system']}; libtrain {results['commit']}; "
        f"{results['repeats']} repeats.",
        "",
        HEAD,
        *(entry for row in results["rows"] for entry in table_lines(row)),
        "",
        "![how much faster than each peer](images/benchmarks.png)",
        "",
        "## Each row",
        "",
    ]
    for row in results["rows"]:
        lines.append(f"- **{row['title']}**: `./dev bench --only {row['name']}`")
        if "not_run" not in row:
            lines += _sides(row)
    return "\n".join([*lines, END])


def replace_generated(page: str, generated: str, begin: str = BEGIN, end: str = END) -> str:
    """`page` with what stands between the two marks replaced, by text that holds them too."""
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"the page must hold one line {begin!r} and, after it, one {end!r}")
    before, rest = page.split(begin)
    return before + generated + rest.split(end)[1]


def write(page: pathlib.Path, generated: str, begin: str = BEGIN, end: str = END) -> None:
    page.write_text(replace_generated(page.read_text(), generated, begin, end))
