# E6: a large table of which a step changes few rows: their averages are updated when the rows change.
"""The same training twice: with sparse gradients, where only rows that are named are averaged, and with dense ones,
where every step averages the whole table. Both give the same averages; the costs are timed."""

import time

import numpy as np

import paddle_mini as pm


class Table:
    """rows x width numbers, of which a step moves `batch` rows towards 1."""

    def __init__(self, settings, schemes, is_sparse):
        self.main, startup, self.scope = pm.Program(), pm.Program(), pm.Scope()
        self.exe, shape = pm.Executor(pm.CPUPlace()), [settings["rows"], settings["width"]]
        with pm.program_guard(self.main, startup):
            ids = pm.layers.data("ids", [settings["batch"]], dtype="int64")
            attr = pm.ParamAttr("table", pm.initializer.Uniform(-1.0, 1.0))
            found = pm.layers.embedding(ids, shape, is_sparse=is_sparse, param_attr=attr)
            loss = pm.layers.reduce_sum(pm.layers.square(found - 1.0) * 0.5)
            optimizer = pm.optimizer.SGD(settings["rate"])
            self.average = pm.optimizer.ParameterAverage(optimizer, schemes) if schemes else optimizer
            self.average.minimize(loss)
        pm.seed(0)
        self.exe.run(startup, scope=self.scope)

    def step(self, ids):
        self.exe.run(self.main, {"ids": ids}, scope=self.scope)

    def value(self, scheme):
        with self.average.apply(self.exe, self.scope, scheme=scheme):
            return self.scope.get("table")

    def bytes(self):
        return sum(self.scope.get(name).nbytes for name in self.scope.names())


def ids_of(settings):
    """Words are distributed as in texts: the r-th has a share proportional to 1/r."""
    random = np.random.RandomState(0)
    ranks = settings["rows"] ** random.rand(settings["steps"], settings["batch"])
    return (ranks.astype("int64") * 7919) % settings["rows"]


def differences(settings):
    """{scheme: the greatest difference of lazy and dense averages}."""
    lazy, dense = (Table(settings, settings["schemes"], is_sparse) for is_sparse in (True, False))
    for now in ids_of(settings):
        lazy.step(now)
        dense.step(now)
    return {scheme: float(np.abs(lazy.value(scheme) - dense.value(scheme)).max()) for scheme in settings["schemes"]}


def milliseconds(settings, is_sparse):
    """{scheme: (seconds of a step, of apply and restore, bytes)}; None: no average. Programs alternate; the fastest
    round counts."""
    tables = {scheme: Table(settings, [scheme] if scheme else [], is_sparse) for scheme in [None, *settings["schemes"]]}
    ids = ids_of(settings)[: 20 if is_sparse else 5]
    steps, applied = {scheme: [] for scheme in tables}, {scheme: [] for scheme in tables}
    for _ in range(settings["turns"]):
        for scheme, table in tables.items():
            begin = time.perf_counter()
            for now in ids:
                table.step(now)
            steps[scheme].append((time.perf_counter() - begin) / len(ids) * 1e3)
            if scheme is not None:
                begin = time.perf_counter()
                table.average.apply(table.exe, table.scope).__exit__()
                applied[scheme].append((time.perf_counter() - begin) * 1e3)
    return {scheme: (min(steps[scheme]), min(applied[scheme], default=0.0), table.bytes()) for scheme, table in tables.items()}


def run(settings, report):
    off, rows = differences(settings), []
    costs = {is_sparse: milliseconds(settings, is_sparse) for is_sparse in (True, False)}
    size, changed = settings["rows"] * settings["width"], np.unique(ids_of(settings)).size
    for scheme in settings["schemes"]:
        row = {
            "scheme": repr(scheme),
            "rows": settings["rows"],
            "rows changed": changed,
            "lazy minus dense, greatest": off[scheme],
        }
        for is_sparse, name in ((True, "lazy"), (False, "dense")):
            plain, (step, applied, held) = costs[is_sparse][None], costs[is_sparse][scheme]
            row.update(
                {
                    f"{name}: ms/step without": plain[0],
                    f"{name}: ms/step more": step - plain[0],
                    f"{name}: ms an apply": applied,
                    f"{name}: bytes/parameter": (held - plain[2]) / size,
                }
            )
        row["time ratio"] = row["lazy: ms/step more"] / row["dense: ms/step more"]
        rows.append(row)
    report.table("e6_sparse", rows)
    worst = max(row["lazy minus dense, greatest"] for row in rows)
    report.criterion("e6", "lazy averages are the dense ones, to 1e-6", f"{worst:.1e}", worst <= 1e-6)
    share = settings["batch"] / settings["rows"]
    worst = max(row["time ratio"] for row in rows)
    report.criterion(
        "e6",
        f"averaging rows takes at most 1/100 of the time of averaging the table (rows: {share:.1e})",
        f"{worst:.1e}",
        worst <= 0.01,
    )
