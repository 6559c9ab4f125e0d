"""The plot beside the table: each peer's ratio with its spread, and the goal as a line across."""

import pathlib

from harness.report import goal_of


def bars(results: dict) -> list[dict]:
    """One for each comparison that counts, in the table's order. Where a goal is an upper bound on
    cost, ratios are turned over, so that more is better everywhere."""
    made = []
    for row in results["rows"]:
        for peer in row.get("peers", []):
            if "failed" in peer:
                continue
            ratio, goal = peer["ratio"], goal_of(peer)
            median, least, most = ratio["median"], ratio["least"], ratio["most"]
            bound = goal.at_least if goal else None
            if goal and goal.at_most is not None:
                median, least, most, bound = 1 / median, 1 / most, 1 / least, 1 / goal.at_most
            made.append(
                {
                    "label": f"{row['name']} · {peer['label']}",
                    "median": median,
                    "least": least,
                    "most": most,
                    "goal": bound,
                }
            )
    return made


def _colour(bar: dict) -> str:
    if bar["goal"] is None:
        return "#9aa5b1"
    return "#2f7d4f" if bar["median"] >= bar["goal"] else "#c4622d"


def draw(path: pathlib.Path, results: dict) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = bars(results)
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.32 * len(shown)), layout="constrained")
    positions = range(len(shown))
    colours = [_colour(bar) for bar in shown]
    axes.set_xscale("log", base=2)
    axes.barh(
        positions,
        [bar["median"] - 1 for bar in shown],
        left=1,
        color=colours,
        height=0.6,
        xerr=[
            [bar["median"] - bar["least"] for bar in shown],
            [bar["most"] - bar["median"] for bar in shown],
        ],
        error_kw={"elinewidth": 1, "capsize": 2},
    )
    for position, bar in zip(positions, shown):
        if bar["goal"] is not None:
            axes.plot(
                [bar["goal"]] * 2, [position - 0.42, position + 0.42], color="black", linewidth=2
            )
    axes.axvline(1, color="black", linewidth=0.8)
    axes.xaxis.set_major_formatter(lambda ratio, _: f"{ratio:g}×")
    axes.set_yticks(positions, [bar["label"] for bar in shown], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(
        "as fast as the peer (memory: as little); "
        "black line: goal; green: met, orange: missed, grey: no goal",
        fontsize=8,
    )
    axes.set_title(
        f"{results['machine']['cpu']}, {results['machine']['cores']} cores, {results['date']}",
        fontsize=9,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
