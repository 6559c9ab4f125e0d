"""The table of docs/benchmarks.md. What stands outside the two marks is written by hand and kept."""

import pathlib

from harness.maths import Goal

BEGIN = "<!-- written by ./dev bench: begin -->"
END = "<!-- written by ./dev bench: end -->"
HEAD = "| work | against | ours | theirs | ratio (least to most) | goal | | largest difference |\n|---|---|---|---|---|---|---|---|"


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
        return [f"| {row['title']} | | | | not run: {row['not_run']} | | | |"]
    unit, ours = row["unit"], row["ours"]
    lines = []
    for index, peer in enumerate(row["peers"]):
        title = row["title"] if index == 0 else ""
        goal = goal_of(peer)
        if "failed" in peer:
            reason = peer["failed"].splitlines()[0].replace("|", "/")
            lines.append(f"| {title} | {peer['label']} | | | does not count: {reason} | {goal or ''} | | |")
            continue
        ratio = peer["ratio"]
        lines.append(
            f"| {title} | {peer['label']} | {number(ours['figure']['median'])} {unit} "
            f"| {number(peer['figure']['median'])} {unit} "
            f"| **{ratio['median']:.2f}×** ({ratio['least']:.2f} to {ratio['most']:.2f}) | {goal or ''} "
            f"| {verdict(ratio['median'], goal)} | {peer['largest_difference']:.1e} |")
    return lines


def _sides(row: dict) -> list[str]:
    lines = []
    for side in [row["ours"], *(peer for peer in row["peers"] if "failed" not in peer)]:
        flags = ", ".join(f"{name} {value}" for name, value in side["flags"].items())
        versions = ", ".join(f"{name} {value}" for name, value in side["versions"].items())
        figure = side["figure"]
        spread = f"{number(figure['median'])} {row['unit']} ({number(figure['least'])} to {number(figure['most'])})"
        facts = [spread, flags, f"peak memory {side['peak_mb']:,.0f} MB" if side["peak_mb"] else "", versions]
        lines.append(f"  - {side['label']}: {'; '.join(filter(None, facts))}")
    return lines


def text(results: dict) -> str:
    """The generated part, marks included."""
    machine = results["machine"]
    lines = [
        BEGIN,
        f"{results['date']}, {machine['cores']} cores of {machine['cpu']} ({', '.join(machine['flags'])}), "
        f"{machine['memory_gb']} GB, {machine['system']}; libtrain {results['commit']}.",
        "",
        HEAD,
        *(line for row in results["rows"] for line in table_lines(row)),
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


def replace_generated(page: str, generated: str) -> str:
    """`page` with what stands between the marks replaced."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise ValueError(f"the page must hold one line {BEGIN!r} and, after it, one {END!r}")
    before, rest = page.split(BEGIN)
    return before + generated + rest.split(END)[1]


def write(page: pathlib.Path, results: dict) -> None:
    page.write_text(replace_generated(page.read_text(), text(results)))
