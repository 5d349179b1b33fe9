"""One case: its programs are run step by step, and its files are read, by the module of a runtime (see replay.py)."""

import json
import os
import re
import time
import traceback

import numpy as np

from golden.case_values import compare, feed_of, is_lod_key, load_npz, lod_in, read_stream, split_value


class Diff(Exception):
    pass


class Runner:
    def __init__(self, mod, d, opts, perturb=None):
        self.mod, self.d, self.opts, self.perturb = mod, d, opts, perturb
        self.meta = json.load(open(os.path.join(d, "case.json")))
        self.init = load_npz(os.path.join(d, "init.npz"))
        self.feeds = load_npz(os.path.join(d, "feeds.npz"))
        self.exp = load_npz(os.path.join(d, "expected.npz"))
        self.diffs, self.checked, self.got = [], 0, {}

    def rd(self, f):
        with open(os.path.join(self.d, f), "rb") as fh:
            return fh.read()

    def pz(self, a):
        if self.perturb is None or not isinstance(a, np.ndarray) or a.dtype.kind != "f":
            return a
        eps = 2e-16 if a.dtype == np.float64 else 1.2e-7  # integers (labels, masks, ties) stay as they are
        b = np.where(a == np.round(a), a, a * (1 + eps * self.perturb.randn(*a.shape)))
        return np.asarray(b).astype(a.dtype)

    def reset(self):
        if hasattr(self.mod, "reset"):
            self.mod.reset()

    def check(self, key, got):
        self.got[key] = split_value(got)[0]
        if key not in self.exp:
            return
        self.checked += 1
        m = compare(key, self.exp[key], got, self.meta, self.opts, lod_in(self.exp, key))
        if m:
            self.diffs.append(m)

    def run(self, prog, feed, fetch):
        if self.perturb is not None:
            feed = {n: ((self.pz(v[0]), v[1]) if isinstance(v, tuple) else self.pz(v)) for n, v in feed.items()}
        r = self.mod.run(prog, feed, list(fetch))
        if isinstance(r, dict):
            r = [r[n] for n in fetch]
        if fetch and len(r) != len(fetch):
            raise Diff(f"run() returned {len(r)} values for {len(fetch)} fetch names")
        return r or []

    def set_init(self, init=None):
        for n, a in (init if init is not None else self.init).items():
            self.mod.set_var(n, self.pz(a))

    def steps(self, prog, n, fetch, prefix, set_vars=()):
        for k in range(n):
            p = prefix(k)
            for v in set_vars:
                self.mod.set_var(v, self.feeds[f"{p}/{v}"])
            res = self.run(prog, feed_of(self.feeds, p, set_vars), fetch)
            for name, val in zip(fetch, res):
                self.check(f"{p}/{name}", val)

    def go(self):
        kind = self.meta["kind"]
        if kind == "bad":
            return self.bad()
        if kind == "files":
            return self.files()
        if self.meta.get("model"):
            return self.infer_model()
        self.reset()
        self.set_init()
        prog = self.mod.load_program(self.rd("main.pb"))
        self.steps(prog, self.meta["steps"], self.meta["fetch"], str, self.meta.get("set_vars", ()))
        for key in self.exp:
            if key.startswith("final/") and not is_lod_key(key):
                self.check(key, self.mod.get_var(key[6:]))
        progs = {"main.pb": prog}
        for st in self.meta.get("stages", ()):
            f = st["program"]
            if f not in progs:
                progs[f] = self.mod.load_program(self.rd(f))
            s = st["stage"]
            self.steps(progs[f], st["steps"], st["fetch"], lambda k: f"{s}/{k}", st.get("set_vars", ()))
            for v in st.get("check", ()):
                self.check(f"{s}/after/{v}", self.mod.get_var(v))
        if self.meta.get("checkpoint") and hasattr(self.mod, "load_checkpoint"):
            vals = self.mod.load_checkpoint(os.path.join(self.d, self.meta["checkpoint"]))
            for n, a in self.init.items():
                self.checked += 1
                if n not in vals or not np.array_equal(np.asarray(vals[n]), a):
                    self.diffs.append(f"checkpoint/{n}: wrong or missing")
        if os.path.exists(os.path.join(self.d, "startup.pb")) and not self.opts.no_startup and self.perturb is None:
            self.startup()

    def startup(self):
        self.reset()
        prog = self.mod.load_program(self.rd("startup.pb"))
        self.run(prog, {}, [])
        stats = self.meta.get("startup_stats", {})
        for n in self.meta.get("startup_vars", []):
            a = split_value(self.mod.get_var(n))[0]
            e = self.init[n]
            self.checked += 1
            if a.shape != e.shape or (a.dtype != e.dtype and not self.opts.lax_dtype):
                self.diffs.append(f"startup/{n}: {a.dtype}{a.shape}, expected {e.dtype}{e.shape}")
            elif n in self.meta.get("startup_const", ()) and not np.array_equal(a, e):
                self.diffs.append(f"startup/{n}: constant initializer gave {a.ravel()[:3]}, expected {e.ravel()[:3]}")
            elif n in stats:
                st = stats[n]
                f = a.astype(np.float64).ravel()
                if f.min() < st["lo"] or f.max() > st["hi"]:
                    self.diffs.append(
                        f"startup/{n}: range [{f.min():.4g}, {f.max():.4g}] outside [{st['lo']:.4g}, {st['hi']:.4g}]"
                    )
                elif abs(f.mean() - st["mean"]) > 6 * st["std"] / np.sqrt(f.size) or abs(f.std() - st["std"]) > 0.1 * st["std"]:
                    self.diffs.append(
                        f"startup/{n}: mean {f.mean():.4g} std {f.std():.4g}, expected about {st['mean']:.4g} / {st['std']:.4g}"
                    )

    def infer_model(self):
        order, b, p, vals = self.meta["param_order"], self.rd(self.meta["params"]), 0, {}
        for n in order:
            a, lod, used = read_stream(b, p)
            p += used
            vals[n] = a
        assert p == len(b), "trailing bytes in params file"
        self.reset()
        self.set_init(vals)
        prog = self.mod.load_program(self.rd(self.meta["model"]))
        self.steps(prog, self.meta["steps"], self.meta["fetch"], str)
        if hasattr(self.mod, "load_inference_model") and self.perturb is None:
            self.reset()
            prog, fn, tn = self.mod.load_inference_model(os.path.join(self.d, self.meta["model"][: -len(".pdmodel")]))
            self.checked += 1
            if list(fn) != self.meta["feed_names"] or list(tn) != self.meta["fetch"]:
                self.diffs.append(
                    f"load_inference_model: feeds {fn}, fetches {tn}; expected {self.meta['feed_names']}, {self.meta['fetch']}"
                )
            for n, a in vals.items():
                self.checked += 1
                if not np.array_equal(split_value(self.mod.get_var(n))[0], a):
                    self.diffs.append(f"load_inference_model: parameter {n} differs")
            self.steps(prog, self.meta["steps"], self.meta["fetch"], str)

    def files(self):
        jobs = []
        root = os.path.join(self.d, self.meta["streams"])
        for f in sorted(os.listdir(root)):
            jobs.append((f, open(os.path.join(root, f), "rb").read(), [f]))
        if self.meta.get("combined"):
            jobs.append(("combined", self.rd(self.meta["combined"]["file"]), self.meta["combined"]["order"]))
        readers = [("reference reader", lambda b: read_stream(b))]
        if hasattr(self.mod, "read_stream"):
            readers.append(("module", self.mod.read_stream))
        eq = lambda a, e: a.dtype == e.dtype and a.shape == e.shape and a.tobytes() == e.tobytes()
        for label, rd in readers:
            for f, b, names in jobs:
                p = 0
                for n in names:
                    a, lod, used = rd(b[p:])
                    e, el = self.exp[n], lod_in(self.exp, n) or []
                    self.checked += 1
                    if not eq(np.asarray(a), e) or [list(map(int, x)) for x in (lod or [])] != el:
                        self.diffs.append(f"{label}: {f}/{n}: value or LoD differs")
                    p += used
                if p != len(b):
                    self.diffs.append(f"{label}: {f}: {len(b) - p} bytes left over")
        if hasattr(self.mod, "write_stream"):
            for f, b, names in jobs:
                w = b"".join(self.mod.write_stream(self.exp[n], lod_in(self.exp, n) or []) for n in names)
                self.checked += 1
                if w != b:
                    self.diffs.append(f"write_stream: {f}: bytes differ from Paddle's")

    def bad(self):
        self.reset()
        m = self.meta
        try:
            self.set_init()
            prog = self.mod.load_program(self.rd("main.pb"))
            for k in range(m.get("steps", 1)):
                self.run(prog, feed_of(self.feeds, str(k)), m["fetch"])
        except Exception as e:
            self.checked += 1
            text = f"{type(e).__name__}: {e}"
            self.error = text
            if isinstance(e, (MemoryError, RecursionError)):
                self.diffs.append(f"raised {type(e).__name__}: the program must be refused, not run into the limit")
            low = text.lower()
            for alt in m.get("words", []):
                alt = alt if isinstance(alt, list) else [alt]
                if not any(mentions(low, w.lower()) for w in alt):
                    self.diffs.append(f"error does not mention {' or '.join(alt)}: {text[:300]!r}")
            return
        self.error = None
        self.diffs.append("no error raised")


def mentions(text, word):
    """plain substring; very short names must stand alone (x, y, lod ...)"""
    if len(word) > 3:
        return word in text
    return re.search(r"(?<![a-z0-9_])" + re.escape(word) + r"(?![a-z0-9_])", text) is not None


def run_one(mod, d, opts):
    t = time.time()
    res = {"name": os.path.basename(d), "dir": d, "status": "pass", "message": ""}
    try:
        r = Runner(mod, d, opts)
        r.go()
        res["checked"] = r.checked
        if r.meta["kind"] == "bad":
            res["error"] = getattr(r, "error", None) and r.error[:600]
        if r.diffs:
            res.update(status="fail", message=r.diffs[0], ndiffs=len(r.diffs))
        elif not r.checked:
            res.update(status="fail", message="nothing was checked")
    except Exception as e:
        res.update(
            status="error",
            message=f"{type(e).__name__}: {str(e)[:400]} | {traceback.format_exc().strip().splitlines()[-3][:200]}",
        )
    res["seconds"] = round(time.time() - t, 3)
    return res
