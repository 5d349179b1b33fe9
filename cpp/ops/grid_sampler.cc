// grid_sampler: every pixel of Output is what X shows at a place that Grid names
#include "core/op_table.h"
#include "math/vec.h"

#include <algorithm>

namespace paddle_mini {
namespace {

// A coordinate of Grid as a place along an axis of X, and how fast the place moves with it.
template <class T>
struct GridSamplerPlace {
  T at, speed;
};

// Along one axis: -1 and 1 are the centers of the outermost pixels (corners) or the outer edges of them.
template <class T>
class GridAxis {
 public:
  GridAxis(int64_t size, bool corners, const std::string& padding)
      : size_(size), corners_(corners), border_(padding == "border"), reflects_(padding == "reflection") {}

  GridSamplerPlace<T> place(T coordinate) const {
    T last = static_cast<T>(size_ - 1), speed = (corners_ ? last : last + T(1)) / T(2);
    T at = corners_ ? (coordinate + T(1)) * speed : (coordinate + T(1)) * speed - T(0.5);
    if (reflects_) return reflected(at, speed, last);
    return border_ ? clipped(at, speed, last) : GridSamplerPlace<T>{at, speed};
  }

 private:
  static GridSamplerPlace<T> clipped(T at, T speed, T last) {
    T inside = minimum(maximum(at, T(0)), last);
    return {inside, inside == at ? speed : T(0)};
  }

  // Mirrored at the outermost centers, or at the outer edges; there half a pixel remains beyond the last center.
  GridSamplerPlace<T> reflected(T at, T speed, T last) const {
    T half = corners_ ? T(0) : T(0.5), period = T(2) * (last + T(2) * half);
    if (period == T(0)) return {T(0), T(0)};
    T distance = std::abs(at + half), rest = distance - std::floor(distance / period) * period;
    bool before = at + half < T(0), flipped = rest > period - rest;
    if (before != flipped) speed = -speed;
    GridSamplerPlace<T> found{minimum(rest, period - rest) - half, speed};
    return corners_ ? found : clipped(found.at, found.speed, last);
  }

  int64_t size_;
  bool corners_, border_, reflects_;
};

// Two pixels around a place along an axis; `there`: whether they are pixels of X.
template <class T>
struct Pair {
  bool there[2];
  int64_t index[2];
  T part[2];

  Pair(T at, int64_t size) {
    T first = std::floor(at);
    part[1] = at - first;
    part[0] = T(1) - part[1];
    for (int i = 0; i < 2; ++i) {
      T pixel = first + static_cast<T>(i);
      there[i] = pixel >= T(0) && pixel < static_cast<T>(size);
      index[i] = there[i] ? std::min(static_cast<int64_t>(pixel), size - 1) : 0;
    }
  }
};

template <class T>
struct Sampling {
  int64_t images, channels, height, width, samples;
  bool bilinear;
  GridAxis<T> rows, columns;

  Sampling(const KernelInit& init, const Shape& x, const Shape& grid)
      : images(x[0]), channels(x[1]), height(x[2]), width(x[3]), samples(grid[1] * grid[2]),
        bilinear(init.attr<std::string>("mode") == "bilinear"), rows(axis(init, height)), columns(axis(init, width)) {}

  static GridAxis<T> axis(const KernelInit& init, int64_t size) {
    return {size, init.attr<bool>("align_corners"), init.attr<std::string>("padding_mode")};
  }

  // f(number of the sample among all, its places, offset of its first channel in X, in Output)
  template <class F>
  void each(const T* grid, F f) const {
    for (int64_t n = 0; n < images; ++n) {
      for (int64_t i = 0; i < samples; ++i) {
        int64_t at = n * samples + i;
        f(at, rows.place(grid[2 * at + 1]), columns.place(grid[2 * at]), n * channels * height * width,
          n * channels * samples + i);
      }
    }
  }

  // f(offset in a plane of X, weight, its slope along the rows, along the columns) for the pixels that a sample mixes
  template <class F>
  void each_pixel(T y, T x, F f) const {
    if (!bilinear) {
      y = std::round(y), x = std::round(x);
      if (!(y >= T(0) && y < static_cast<T>(height) && x >= T(0) && x < static_cast<T>(width))) return;
      int64_t row = std::min(static_cast<int64_t>(y), height - 1);
      int64_t column = std::min(static_cast<int64_t>(x), width - 1);
      return f(row * width + column, T(1), T(0), T(0));
    }
    Pair<T> vertical(y, height), horizontal(x, width);
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        if (!vertical.there[i] || !horizontal.there[j]) continue;
        f(vertical.index[i] * width + horizontal.index[j], vertical.part[i] * horizontal.part[j],
          i ? horizontal.part[j] : -horizontal.part[j], j ? vertical.part[i] : -vertical.part[i]);
      }
    }
  }
};

template <class T>
struct GridSamplerKernel : Kernel {
  In<T> x, grid;
  Out<T> output;
  Sampling<T> sampling;

  explicit GridSamplerKernel(KernelInit& init)
      : x(init, "X"), grid(init, "Grid"), output(init, "Output"), sampling(init, x.shape(), grid.shape()) {}

  void run(Device&) override {
    std::fill_n(output.data(), output.numel(), T(0));
    int64_t plane = sampling.height * sampling.width;
    sampling.each(grid.data(), [&](int64_t, GridSamplerPlace<T> row, GridSamplerPlace<T> column, int64_t from, int64_t to) {
      sampling.each_pixel(row.at, column.at, [&](int64_t pixel, T weight, T, T) {
        for (int64_t c = 0; c < sampling.channels; ++c) {
          output[to + c * sampling.samples] += x[from + c * plane + pixel] * weight;
        }
      });
    });
  }
};

template <class T>
struct GridSamplerGradKernel : Kernel {
  In<T> x, grid, gradient;
  Out<T> x_gradient, grid_gradient;
  Sampling<T> sampling;

  explicit GridSamplerGradKernel(KernelInit& init)
      : x(init, "X"), grid(init, "Grid"), gradient(init, "Output@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        grid_gradient(init, "Grid@GRAD", optional_port), sampling(init, x.shape(), grid.shape()) {}

  void run(Device&) override {
    if (x_gradient) std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    int64_t plane = sampling.height * sampling.width;
    sampling.each(grid.data(), [&](int64_t sample, GridSamplerPlace<T> row, GridSamplerPlace<T> column, int64_t in, int64_t out) {
      T along_rows = 0, along_columns = 0;
      sampling.each_pixel(row.at, column.at, [&](int64_t pixel, T weight, T row_slope, T column_slope) {
        for (int64_t c = 0; c < sampling.channels; ++c) {
          int64_t element = in + c * plane + pixel;
          T g = gradient[out + c * sampling.samples];
          if (x_gradient) x_gradient[element] += g * weight;
          along_rows += g * x[element] * row_slope;
          along_columns += g * x[element] * column_slope;
        }
      });
      if (!grid_gradient) return;
      grid_gradient[2 * sample] = along_columns * column.speed;
      grid_gradient[2 * sample + 1] = along_rows * row.speed;
    });
  }
};

Shape sampled_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Grid");
  require_rank(c, "X", 4);
  require_rank(c, "Grid", 4);
  const Shape &x = c.shape("X"), &grid = c.shape("Grid");
  require<ShapeError>(dims_agree(grid[0], x[0]) && dims_agree(grid[3], 2), "Grid has shape ", grid.str(),
                      ", with X of ", x.str(), " it must be [images, height, width, 2]");
  for (int axis : {2, 3}) require<ShapeError>(x[axis] != 0, "X has shape ", x.str(), ": there are no pixels");
  return {x[0], x[1], grid[1], grid[2]};
}

void grid_sampler_infer_gradient(InferContext& c) {
  Shape output = sampled_shape(c);
  require_same_dtype(c, "X", "Output@GRAD");
  require<ShapeError>(shapes_agree(c.shape("Output@GRAD"), output), "Output@GRAD has shape ",
                      c.shape("Output@GRAD").str(), ", Output has ", output.str());
  gradients_like_inputs(c);
}

OpSpec grid_sampler_with_attributes(OpSpec spec) {
  return spec.input("X", "[images, channels, height, width]")
      .input("Grid", "[images, output height, output width, 2]: x, y; from -1 to 1 across the image")
      .attr("mode", "bilinear", "the mixture of four pixels, or the nearest one", one_of({"bilinear", "nearest"}))
      .attr("padding_mode", "zeros", "what lies outside: zeros, the outermost pixels, or the image mirrored",
            one_of({"zeros", "border", "reflection"}))
      .attr("align_corners", true, "whether -1 and 1 are the centers of the outermost pixels, or else their edges");
}

}  // namespace

void define_grid_sampler(OpTable& ops) {
  ops.add(grid_sampler_with_attributes(OpSpec("grid_sampler"))
              .doc("Output[n, c, i, j] = X[n, c] at the place (x, y) = Grid[n, i, j], a mixture of the four pixels "
                   "around it or the nearest one (Jaderberg et al. 2015).")
              .output("Output", "[images, channels, output height, output width]")
              .infer([](InferContext& c) { c.set_output("Output", c.input("X").dtype, sampled_shape(c)); })
              .gradient("grid_sampler_grad", {"X", "Grid", "Output@GRAD"}, {"X@GRAD", "Grid@GRAD"})
              .kernels<GridSamplerKernel, float, double>());
  ops.add(grid_sampler_with_attributes(OpSpec("grid_sampler_grad"))
              .doc("X@GRAD: each pixel gets the part of Output@GRAD that it has in Output. Grid@GRAD: how Output moves "
                   "with the place; 0 with the nearest pixel, and where the place is held at the border.")
              .input("Output@GRAD", "shape of Output")
              .optional_output("X@GRAD", "shape of X")
              .optional_output("Grid@GRAD", "shape of Grid")
              .infer(grid_sampler_infer_gradient)
              .kernels<GridSamplerGradKernel, float, double>());
}

}  // namespace paddle_mini
