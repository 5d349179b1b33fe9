"""Values of a case: read from its files, and compared with what a runtime gives."""

import os
import struct

import numpy as np


def load_npz(path):
    if not os.path.exists(path):
        return {}
    with np.load(path, allow_pickle=False) as z:
        return {k: z[k] for k in z.files}


def lod_in(d, key):
    if key + "@LOD" not in d:
        return None
    out, i = [d[key + "@LOD"].tolist()], 1
    while f"{key}@LOD.{i}" in d:
        out.append(d[f"{key}@LOD.{i}"].tolist())
        i += 1
    return out


def is_lod_key(k):
    return k.endswith("@LOD") or "@LOD." in k


def feed_of(feeds, prefix, skip=()):
    out = {}
    for k in feeds:
        if k.startswith(prefix + "/") and not is_lod_key(k):
            n = k[len(prefix) + 1 :]
            if n in skip or (prefix.isdigit() is False and "/" in n and not n.startswith("@")):
                continue
            lod = lod_in(feeds, k)
            out[n] = (feeds[k], lod) if lod else feeds[k]
    return out


# ---------------------------------------------------------------- LoDTensor stream (reference reader)
DT = {0: np.bool_, 1: np.int16, 2: np.int32, 3: np.int64, 4: np.float16, 5: np.float32, 6: np.float64, 20: np.uint8, 21: np.int8}


def _varint(b, p):
    r = s = 0
    while True:
        c = b[p]
        p += 1
        r |= (c & 127) << s
        s += 7
        if c < 128:
            return r, p


def read_stream(b, p=0):
    start = p
    (ver,) = struct.unpack_from("<I", b, p)
    p += 4
    assert ver == 0, "LoDTensor version"
    (nl,) = struct.unpack_from("<Q", b, p)
    p += 8
    lod = []
    for _ in range(nl):
        (sz,) = struct.unpack_from("<Q", b, p)
        p += 8
        lod.append(np.frombuffer(b, np.uint64, sz // 8, p).astype(int).tolist())
        p += sz
    tv, n = struct.unpack_from("<Ii", b, p)
    p += 8
    assert tv == 0, "tensor version"
    q, end, dt, dims = p, p + n, None, []
    while q < end:
        tag, q = _varint(b, q)
        if tag == 8:
            dt, q = _varint(b, q)
        elif tag == 16:
            v, q = _varint(b, q)
            dims.append(v - (1 << 64) if v >> 63 else v)
        elif tag == 18:
            ln, q = _varint(b, q)
            e = q + ln
            while q < e:
                v, q = _varint(b, q)
                dims.append(v)
        else:
            raise ValueError("TensorDesc tag %d" % tag)
    p = end
    dtype = np.dtype(DT[dt])
    cnt = int(np.prod(dims)) if dims else 1
    a = np.frombuffer(b, dtype, cnt, p).reshape(dims).copy()
    p += cnt * dtype.itemsize
    return a, lod, p - start


# ---------------------------------------------------------------- comparing
def split_value(v):
    if isinstance(v, tuple) and len(v) == 2 and (v[1] is None or isinstance(v[1], (list, tuple))):
        return np.asarray(v[0]), v[1]
    return np.asarray(v), None


def tol_for(meta, key):
    t = meta.get("tol", {})
    name = key.split("/", 1)[1] if "/" in key else key
    for k in (key, name):
        if k in t:
            return t[k]
    return meta["rtol"], meta["atol"]


def compare(key, exp, got, meta, opts, exp_lod=None):
    got, got_lod = split_value(got)
    if got.dtype != exp.dtype and not opts.lax_dtype:
        return f"{key}: dtype {got.dtype}, expected {exp.dtype}"
    if got.shape != exp.shape:
        if not (opts.lax_shape and got.size == exp.size):
            return f"{key}: shape {got.shape}, expected {exp.shape}"
        got = got.reshape(exp.shape)
    if exp_lod is not None and not opts.no_lod:
        g = [list(map(int, l)) for l in (got_lod or [])]
        if g != [list(map(int, l)) for l in exp_lod]:
            return f"{key}: LoD {g}, expected {exp_lod}"
    if exp.size == 0:
        return None
    if exp.dtype.kind in "fc":
        rtol, atol = tol_for(meta, key)
        with np.errstate(all="ignore"):
            e, g = exp.astype(np.float64), got.astype(np.float64)
            same = (e == g) | (np.isnan(e) & np.isnan(g))
            bad = ~(same | (np.isfinite(e) & np.isfinite(g) & (np.abs(e - g) <= atol + rtol * np.abs(e))))
        if bad.any():
            i = np.unravel_index(np.argmax(bad), bad.shape) if bad.ndim else ()
            dmax = np.nanmax(np.where(bad, np.abs(e - g), 0))
            return (
                f"{key}: {int(bad.sum())} of {bad.size} values differ (rtol {rtol:g} atol {atol:g}); first at {tuple(int(x) for x in i)}: "
                f"got {g[i]:.9g}, expected {e[i]:.9g}; largest difference {dmax:.3g}"
            )
    else:
        bad = exp != got
        if np.any(bad):
            i = np.unravel_index(np.argmax(bad), bad.shape) if bad.ndim else ()
            return f"{key}: {int(np.sum(bad))} of {exp.size} values differ; first at {tuple(int(x) for x in i)}: got {got[i]}, expected {exp[i]}"
    return None
