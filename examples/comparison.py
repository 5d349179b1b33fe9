# The statistics of a comparison over seeds, and their display.
import sys

import numpy as np
from scipy.stats import t as student
from tqdm import tqdm


def set_rate(scope, rate):
    scope.set("learning_rate_0", np.array(rate, "float32"))


def interval(values):
    """(mean, half width of its 95 % confidence interval), over the first axis."""
    values = np.asarray(values, float)
    n = len(values)
    return values.mean(0), student.ppf(0.975, n - 1) * values.std(0, ddof=1) / np.sqrt(n)


def plus_minus(values, digits):
    mean, half = interval(values)
    return f"{mean:.{digits}f} ± {half:.{digits}f}"


def paired(values, baseline, digits):
    """Mean of the differences with its interval, and the number of runs in which `values` is lower."""
    difference = np.asarray(values) - np.asarray(baseline)
    return [plus_minus(difference, digits), f"{np.sum(difference < 0)} of {len(difference)}"]


def print_table(title, head, rows):
    print(f"\n{title}\n")
    lines = [head] + rows
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for number, line in enumerate(lines):
        cells = [line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        print(("  " + "  ".join(cells)).rstrip())
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))


def progress(total, what, unit):
    """A progress bar on a terminal; elsewhere a line at intervals."""
    seconds = 0.1 if sys.stderr.isatty() else 10
    return tqdm(total=total, desc=what, unit=f" {unit}", mininterval=seconds, dynamic_ncols=True)
