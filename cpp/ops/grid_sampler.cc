// grid_sampler: every pixel of Output is what X shows at a place that Grid names
#include "core/op_table.h"
#include "math/grid_sampling.h"

#ifdef PM_GPU
#include "math/grid_sampling_gpu.h"
#endif

namespace paddle_mini {
namespace {

#ifdef PM_GPU
template <class T>
struct GridSamplerKernel : Kernel {
  In<T> x, grid;
  Out<T> output;
  Sampling<T> sampling;

  explicit GridSamplerKernel(KernelInit& init)
      : x(init, "X"), grid(init, "Grid"), output(init, "Output"), sampling(init, x.shape(), grid.shape()) {}
  void run(Device& device) override {
    SampledElement<T> element{sampling, x.data(), grid.data(), output.data()};
    for_each_index(device, output.numel(), element);
  }
};

template <class T>
struct GridSamplerGradKernel : Kernel {
  In<T> x, grid, gradient;
  Out<T> x_gradient, grid_gradient;
  Sampling<T> sampling;
  ByTarget by_pixel;

  explicit GridSamplerGradKernel(KernelInit& init)
      : x(init, "X"), grid(init, "Grid"), gradient(init, "Output@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        grid_gradient(init, "Grid@GRAD", optional_port), sampling(init, x.shape(), grid.shape()),
        by_pixel(init, x_gradient ? sampling.corners * sampling.images * sampling.samples : 0) {}
  void run(Device& device) override {
    if (x_gradient) {
      by_pixel.sort(device, MixedPixel<T>{sampling, grid.data()});
      int64_t count = by_pixel.sources();
      by_target_gpu::Put<T, ByTarget::Meet::Sum> mixed{by_pixel.pairs(), count, count, 0, 0, nullptr, nullptr, nullptr};
      MixedShares<T> shares{sampling, mixed, grid.data(), gradient.data(), x_gradient.data()};
      for_each_index(device, x_gradient.numel(), shares);
    }
    if (!grid_gradient) return;
    PlaceShares<T> shares{sampling, x.data(), grid.data(), gradient.data(), grid_gradient.data()};
    for_each_index(device, sampling.images * sampling.samples, shares);
  }
};
#else
template <class T>
struct GridSamplerKernel : Kernel {
  In<T> x, grid;
  Out<T> output;
  Sampling<T> sampling;

  explicit GridSamplerKernel(KernelInit& init)
      : x(init, "X"), grid(init, "Grid"), output(init, "Output"), sampling(init, x.shape(), grid.shape()) {}

  void run(Device&) override {
    std::fill_n(output.data(), output.numel(), T(0));
    sampling.each(grid.data(), [&](int64_t, const SampledPlace<T>& place, int64_t from, int64_t to) {
      sampling.each_pixel(place, [&](int64_t pixel, T weight, const T*) {
        for (int64_t c = 0; c < sampling.channels; ++c) {
          output[to + c * sampling.samples] += x[from + c * sampling.plane + pixel] * weight;
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
    sampling.each(grid.data(), [&](int64_t sample, const SampledPlace<T>& place, int64_t in, int64_t out) {
      T slopes[3] = {T(0), T(0), T(0)};
      sampling.each_pixel(place, [&](int64_t pixel, T weight, const T* slope) {
        for (int64_t c = 0; c < sampling.channels; ++c) {
          int64_t element = in + c * sampling.plane + pixel;
          T g = gradient[out + c * sampling.samples];
          if (x_gradient) x_gradient[element] += g * weight;
          for (int a = 0; a < sampling.axes; ++a) slopes[a] += g * x[element] * slope[a];
        }
      });
      if (!grid_gradient) return;
      for (int a = 0; a < sampling.axes; ++a)
        grid_gradient[sample * sampling.axes + a] = slopes[a] * place.along[a].speed;
    });
  }
};
#endif

Shape sampled_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Grid");
  const Shape &x = c.shape("X"), &grid = c.shape("Grid");
  int rank = x.rank();
  require<ShapeError>(rank == 4 || rank == 5, "X has ", rank, " dimensions, 4 or 5 are needed");
  require_rank(c, "Grid", rank);
  require<ShapeError>(dims_agree(grid[0], x[0]) && dims_agree(grid[rank - 1], rank - 2), "Grid has shape ", grid.str(),
                      ", with X of ", x.str(), " it must be [images, ", rank == 5 ? "depth, " : "", "height, width, ",
                      rank - 2, "]");
  Shape out = x;
  for (int axis = 2; axis < rank; ++axis) {
    require<ShapeError>(x[axis] != 0, "X has shape ", x.str(), ": there are no pixels");
    out[axis] = grid[axis - 1];
  }
  return out;
}

}  // namespace

void define_grid_sampler(OpTable& ops) {
  ops.add(
      OpSpec("grid_sampler")
          .input("X", "[images, channels, height, width], or [images, channels, depth, height, width]")
          .input("Grid",
                 "[images, output height, output width, 2]: x, y; from -1 to 1 across the image; with depth [..., 3]: "
                 "x, y, z")
          .attr("mode", "bilinear", "the mixture of the pixels around, four or with depth eight, or the nearest one",
                one_of({"bilinear", "nearest"}))
          .attr("padding_mode", "zeros", "what lies outside: zeros, the outermost pixels, or the image mirrored",
                one_of({"zeros", "border", "reflection"}))
          .attr("align_corners", true, "whether -1 and 1 are the centers of the outermost pixels, or else their edges")
          .doc("Output[n, c, i, j] = X[n, c] at the place (x, y) = Grid[n, i, j], a mixture of the pixels "
               "around it or the nearest one (Jaderberg et al. 2015).")
          .output("Output", "[images, channels, output height, output width], with depth before them")
          .infer([](InferContext& c) { c.set_output("Output", c.input("X").dtype, sampled_shape(c)); })
          .gradient("grid_sampler_grad", {"X", "Grid", "Output@GRAD"}, {"X@GRAD", "Grid@GRAD"})
          .on_gpu()
          .kernels<GridSamplerKernel, float, double>());
  ops.add(ops.gradient_of("grid_sampler")
              .doc("X@GRAD: each pixel gets the part of Output@GRAD that it has in Output. Grid@GRAD: how Output moves "
                   "with the place; 0 with the nearest pixel, and where the place is held at the border.")
              .kernels<GridSamplerGradKernel, float, double>());
}

}  // namespace paddle_mini
