"""psroi_pool: the means of the bins of regions, each bin from a channel of its own."""

import numpy as np

import paddle_mini as pm
import regions
from harness import array, op_tests


def ranges(begin, end, scale, size, bins):
    begin, end = regions.halves_up(np.array([begin, end])) * scale + [0, scale]
    number = np.arange(bins + 1) * (max(end - begin, 0.1) / bins) + begin
    return np.clip(np.stack([np.floor(number)[:-1], np.ceil(number)[1:]], 1), 0, size).astype(int)


def reference(inputs, attrs):
    x, rows, columns, channels = inputs["X"], attrs["pooled_height"], attrs["pooled_width"], attrs["output_channels"]
    places, scale = regions.images(inputs), attrs["spatial_scale"]
    out = np.zeros((len(places), channels, rows, columns))
    for n, (left, top, right, bottom) in enumerate(regions.boxes(inputs)):
        planes = x[places[n]].reshape(channels, rows, columns, *x.shape[2:])
        for i, (y, y_end) in enumerate(ranges(top, bottom, scale, x.shape[2], rows)):
            for j, (at, end) in enumerate(ranges(left, right, scale, x.shape[3], columns)):
                part = planes[:, i, j, y:y_end, at:end]
                out[n, :, i, j] = part.mean((1, 2)) if part[0].size else 0
    return {"Out": out}


SIZE = {"pooled_height": 2, "pooled_width": 4, "output_channels": 1}

test_psroi_pool = op_tests(
    "psroi_pool",
    reference,
    cases=regions.cases(SIZE, **{"two channels": (regions.COUNTED, {**SIZE, "pooled_width": 2, "output_channels": 2})}),
    gradients=["X"],
    refusals={
        **regions.refusals(SIZE),
        "channels": (regions.COUNTED, {**SIZE, "output_channels": 2}, pm.ShapeError, "X 8 channels, 2 2 by 4 16"),
        "none": ({**regions.COUNTED, "X": array(3, 7, 6, 7)}, SIZE, pm.ShapeError, "X 7 channels 8"),
    },
)
