# Report of the experiments: their tables, criteria and figures.
import csv

import numpy as np

from comparison import interval

LONG = 30


def rows_of(arms, costs=None, **facts):
    """One row for each arm {name: values of one metric, one for each seed}: mean and 95 % interval, and the differences
    to the arms 'last iterate', 'linear decay' and 'exact', seed by seed, if those arms exist."""
    rows = []
    for name, values in arms.items():
        mean, half = interval(values)
        row = {**facts, "arm": name, "seeds": len(values), "mean": mean, "ci95": half}
        for other in ("last iterate", "linear decay", "exact"):
            if other in arms:
                difference = np.asarray(values) - arms[other]
                gap, gap_half = interval(difference)
                key = other.split()[0]
                row.update({f"minus {key}": gap, f"minus {key} ci95": gap_half, f"lower than {key}": np.mean(difference < 0)})
        if costs is not None:
            row.update(zip(("ms/step", "bytes/parameter"), costs.get(name, ("", ""))))
        rows.append(row)
    return rows


def clearly_below(row, other):
    """Whether the 95 % intervals of two rows do not overlap and the first one is lower."""
    return row["mean"] + row["ci95"] < other["mean"] - other["ci95"]


class Report:
    """Writes into a folder and prints; `criteria` are those of all experiments."""

    def __init__(self, folder):
        self.folder, self.criteria = folder, []
        folder.mkdir(parents=True, exist_ok=True)

    def table(self, name, rows):
        """Writes NAME.csv, with the columns of all rows; prints it too if it is short."""
        columns = list(dict.fromkeys(column for row in rows for column in row))
        lines = [columns, *([_text(row.get(column, "")) for column in columns] for row in rows)]
        with open(self.folder / f"{name}.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)
        widths = [max(map(len, column)) for column in zip(*lines)]
        print(f"\n{name}.csv: {len(rows)} rows")
        for line in lines if len(rows) <= LONG else ():
            print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())

    def criterion(self, name, wanted, found, met):
        self.criteria.append({"experiment": name, "wanted": wanted, "found": found, "met": "yes" if met else "NO"})
        print(f"  {'met   ' if met else 'MISSED'}  {wanted}: {found}")

    def told(self, name, what, found):
        """A result without a criterion, reported whatever its outcome."""
        self.criteria.append({"experiment": name, "wanted": f"told, either way: {what}", "found": found, "met": "-"})
        print(f"  told    {what}: {found}")

    def figure(self, name, draw, columns=1, size=(5.2, 4.0), **shared):
        """Writes NAME.svg, which draw(axes) fills. The same numbers give the same file."""
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        with plt.rc_context(
            {
                "svg.hashsalt": name,
                "svg.fonttype": "none",
                "font.size": 9,
                "legend.frameon": False,
                "axes.grid": True,
                "grid.alpha": 0.25,
            }
        ):
            whole = (size[0] * columns, size[1])
            figure, axes = plt.subplots(1, columns, figsize=whole, layout="constrained", **shared)
            draw(axes)
            figure.savefig(self.folder / f"{name}.svg", metadata={"Date": None})
            plt.close(figure)


def band(axis, x, values, **style):
    """The mean over the first axis as a line, with its 95 % interval."""
    mean, half = interval(values)
    (line,) = axis.plot(x, mean, **style)
    axis.fill_between(x, mean - half, mean + half, color=line.get_color(), alpha=0.18, linewidth=0)


def _text(value):
    if isinstance(value, (float, np.floating)):
        return "0" if abs(value) < 1e-12 else f"{value:.4g}"
    return str(value)
