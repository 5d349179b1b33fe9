# Runs the experiments on averaging; writes tables, criteria and figures.
"""
.venv/bin/python examples/averaging/run.py                 # all, into examples/averaging/results
.venv/bin/python examples/averaging/run.py e1 e4 --quick --out out/look
"""

import argparse
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import e1_one_pass
import e2_diabetes
import e3_label_noise
import e4_precision
import e5_systems
import e6_sparse
import settings
from report import Report

EXPERIMENTS = {"e1": e1_one_pass, "e2": e2_diabetes, "e3": e3_label_noise, "e4": e4_precision, "e5": e5_systems, "e6": e6_sparse}


def main(words=None):
    parser = argparse.ArgumentParser(description="Measures where averaging the parameters helps, and where it does not.")
    parser.add_argument("experiments", nargs="*", metavar="experiment", help=f"some of {', '.join(EXPERIMENTS)}; all")
    parser.add_argument("--quick", action="store_true", help="few seeds: for a look, not for conclusions")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "results", help="folder for what is written")
    arguments = parser.parse_args(words)
    unknown = [name for name in arguments.experiments if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"there is no experiment {unknown[0]}; there are {', '.join(EXPERIMENTS)}")
    report = Report(arguments.out)
    for name in arguments.experiments or EXPERIMENTS:
        module, begin = EXPERIMENTS[name], time.perf_counter()
        print(f"\n== {module.__name__}")
        chosen = {**getattr(settings, name.upper()), **(settings.QUICK[name] if arguments.quick else {})}
        module.run(chosen, report)
        print(f"  {time.perf_counter() - begin:.0f} s")
    report.table("criteria", report.criteria)
    return report.criteria


if __name__ == "__main__":
    main()
