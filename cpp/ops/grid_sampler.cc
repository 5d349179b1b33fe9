// grid_sampler: samples X at the coordinates in Grid, one for every pixel of Output
#include "core/op_table.h"
#include "math/segmented_scatter.h"
#include "ops/grid_sampler.h"

namespace paddle_mini {
namespace {

Shape sampled_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Grid");
  const Shape &x = c.shape("X"), &grid = c.shape("Grid");
  int rank = x.rank();
  require<ShapeError>(rank == 4 || rank == 5, "X has ", rank, " dimensions, it must have 4 or 5");
  require_rank(c, "Grid", rank);
  require<ShapeError>(dims_agree(grid[0], x[0]) && dims_agree(grid[rank - 1], rank - 2), "Grid has shape ", grid.str(),
                      ", with X of ", x.str(), " it must be [images, ", rank == 5 ? "depth, " : "", "height, width, ",
                      rank - 2, "]");
  Shape out = x;
  for (int axis = 2; axis < rank; ++axis) {
    require<ShapeError>(x[axis] != 0, "X has shape ", x.str(), ": it has no pixels");
    out[axis] = grid[axis - 1];
  }
  return out;
}

template <class T>
struct GridSamplerKernel : Kernel {
  In<T> x, grid;
  Out<T> output;
  Sampling<T> sampling;

  explicit GridSamplerKernel(KernelInit& init)
      : x(init, "X"), grid(init, "Grid"), output(init, "Output"), sampling(init, x.shape(), grid.shape()) {}
  void run(KernelContext& context) override;
};

template <class T>
struct GridSamplerGradKernel : Kernel {
  In<T> x, grid, gradient;
  Out<T> x_gradient, grid_gradient;
  Sampling<T> sampling;
  SegmentedScatter by_pixel;

  explicit GridSamplerGradKernel(KernelInit& init)
      : x(init, "X"), grid(init, "Grid"), gradient(init, "Output@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        grid_gradient(init, "Grid@GRAD", optional_port), sampling(init, x.shape(), grid.shape()),
        by_pixel(init, x_gradient ? sampling.corners * sampling.images * sampling.samples : 0) {}
  void run(KernelContext& context) override;
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(grid_sampler)

namespace paddle_mini {

void define_grid_sampler(OpTable& ops) {
  ops.add(OpSchema("grid_sampler")
              .input("X", "[images, channels, height, width], or [images, channels, depth, height, width]")
              .input("Grid",
                     "[images, output height, output width, 2]: x, y, from -1 to 1 across the image; with depth [..., "
                     "3]: x, y, z")
              .attr("mode", "bilinear",
                    "bilinear: the weighted sum of the surrounding pixels, four or, with depth, eight; nearest: the "
                    "nearest pixel",
                    one_of({"bilinear", "nearest"}))
              .attr("padding_mode", "zeros",
                    "pixels outside of the image: zeros, the outermost pixels, or the mirrored image",
                    one_of({"zeros", "border", "reflection"}))
              .attr("align_corners", true,
                    "whether -1 and 1 are the centers of the outermost pixels; otherwise they are their edges")
              .doc("Output[n, c, i, j] = X[n, c] interpolated at the position (x, y) = Grid[n, i, j] (Jaderberg et al. "
                   "2015).")
              .output("Output", "[images, channels, output height, output width], with depth before them")
              .infer([](InferContext& c) { c.set_output("Output", c.input("X").dtype, sampled_shape(c)); })
              .gradient("grid_sampler_grad", {"X", "Grid", "Output@GRAD"}, {"X@GRAD", "Grid@GRAD"})
              .on_gpu()
              .kernels<GridSamplerKernel, float, double>());
  ops.add(ops.gradient_of("grid_sampler")
              .doc("X@GRAD = for each pixel of X, the sum of its weight * Output@GRAD over the pixels of Output that "
                   "read it. Grid@GRAD = Output@GRAD times the derivative of Output with respect to the position; 0 "
                   "for the nearest pixel and where the position is clipped to the border.")
              .kernels<GridSamplerGradKernel, float, double>());
}

}  // namespace paddle_mini
