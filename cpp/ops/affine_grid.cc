// affine_grid: Output = the places of an image's pixels under an affine map, as grid_sampler reads them
#include "math/for_each_index.h"
#include "ops/family/tensor_attr.h"
#include "core/op_table.h"

namespace paddle_mini {
namespace {

const TensorAttr kAffineGridShape{"output_shape", "OutputShape"};

// Pixels of an image or a volume along axes x, y, z. Their coordinates run from -1 to 1: between the centers of the
// outermost pixels (corners), or between their outer edges.
struct AffinePixels {
  int axes;
  bool corners;
  int64_t sizes[3] = {1, 1, 1}, count;

  AffinePixels(const Shape& grid, bool corners)
      : axes(grid.rank() - 2), corners(corners), count(grid.numel(1, grid.rank() - 1)) {
    for (int a = 0; a < axes; ++a) sizes[a] = grid[axes - a];
  }

  // Coordinate k of a pixel; the one after the last is 1, for the map's constants.
  template <class T>
  PM_HD T coordinate(int64_t pixel, int k) const {
    if (k == axes) return T(1);
    for (int a = 0; a < k; ++a) pixel /= sizes[a];
    T at = static_cast<T>(pixel % sizes[k]), size = static_cast<T>(sizes[k]);
    if (!corners) return (T(2) * at + T(1)) / size - T(1);
    return sizes[k] > 1 ? T(2) * at / (size - T(1)) - T(1) : T(0);
  }
};

template <class T>
struct MapPixel {
  AffinePixels pixels;
  const T* theta;
  T* out;

  PM_HD void operator()(int64_t i) const {
    int64_t at = i / pixels.axes, pixel = at % pixels.count, image = at / pixels.count;
    const T* row = theta + (image * pixels.axes + i % pixels.axes) * (pixels.axes + 1);
    T sum = T(0);
    for (int k = 0; k <= pixels.axes; ++k) sum += row[k] * pixels.coordinate<T>(pixel, k);
    out[i] = sum;
  }
};

// One element of Theta@GRAD: the sum over the pixels of an image.
template <class T>
struct SumOverPixels {
  AffinePixels pixels;
  const T* gradient;
  T* theta;

  PM_HD void operator()(int64_t i) const {
    int width = pixels.axes + 1, k = static_cast<int>(i % width);
    int64_t a = i / width % pixels.axes, image = i / width / pixels.axes;
    const T* from = gradient + image * pixels.count * pixels.axes + a;
    T sum = T(0);
    for (int64_t p = 0; p < pixels.count; ++p) sum += from[p * pixels.axes] * pixels.coordinate<T>(p, k);
    theta[i] = sum;
  }
};

template <class T>
struct AffineGridKernel : Kernel {
  In<T> theta;
  Out<T> out;
  AffinePixels pixels;

  explicit AffineGridKernel(KernelInit& init)
      : theta(init, "Theta"), out(init, "Output"), pixels(out.shape(), init.attr<bool>("align_corners")) {}
  void run(KernelContext& context) override {
    for_each_index(context, out.numel(), MapPixel<T>{pixels, theta.data(), out.data()});
  }
};

template <class T>
struct AffineGridGradKernel : Kernel {
  In<T> gradient;
  Out<T> theta;
  AffinePixels pixels;

  explicit AffineGridGradKernel(KernelInit& init)
      : gradient(init, "Output@GRAD"), theta(init, "Theta@GRAD"),
        pixels(gradient.shape(), init.attr<bool>("align_corners")) {}
  void run(KernelContext& context) override {
    for_each_index(context, theta.numel(), SumOverPixels<T>{pixels, gradient.data(), theta.data()});
  }
};

void infer_affine_grid(InferContext& c) {
  require_tensors(c);
  require_rank(c, "Theta", 3);
  const Shape &theta = c.shape("Theta"), wanted = settled_shape(c, kAffineGridShape);
  int axes = wanted.rank() - 2;
  require<ShapeError>(axes == 2 || axes == 3, "attribute 'output_shape' has ", wanted.rank(),
                      " numbers, it must have 4, of images, or 5, of volumes");
  require<ShapeError>(dims_agree(theta[1], axes) && dims_agree(theta[2], axes + 1), "Theta has shape ", theta.str(),
                      ", it must be [images, ", axes, ", ", axes + 1, "]");
  require<ShapeError>(dims_agree(theta[0], wanted[0]), "Theta has shape ", theta.str(), ", output_shape has ",
                      wanted[0], " images");
  Shape out{theta[0]};
  for (int a = 0; a < axes; ++a) out.push_back(wanted[2 + a]);
  out.push_back(axes);
  c.set_output("Output", c.input("Theta").dtype, out);
}

void infer_affine_grid_grad(InferContext& c) {
  const Shape& grid = c.shape("Output@GRAD");
  int axes = grid.rank() - 2;
  require<ShapeError>((axes == 2 || axes == 3) && dims_agree(grid[grid.rank() - 1], axes), "Output@GRAD has shape ",
                      grid.str(), ", it must be [images, height, width, 2] or [images, depth, height, width, 3]");
  c.set_output("Theta@GRAD", c.input("Output@GRAD").dtype, Shape{grid[0], axes, axes + 1});
}

}  // namespace

void define_affine_grid(OpTable& ops) {
  ops.add(
      with_tensor_ports(OpSchema("affine_grid").input("Theta", "[images, 2, 3], or [images, 3, 4] for volumes"),
                        {kAffineGridShape})
          .doc(
              "Output[n, y, x] = Theta[n] (x, y, 1): where each pixel of a result lies in an image, both from -1 to 1; "
              "of volumes, (x, y, z, 1). An axis of one pixel has the coordinate 0; in PaddlePaddle's it is NaN with "
              "align_corners. Jaderberg et al. 2015, Spatial Transformer Networks.")
          .attr("output_shape", std::vector<int32_t>{}, "[images, channels, height, width], or with a depth")
          .attr("align_corners", true, "whether -1 and 1 are the centers of the outermost pixels, not their edges")
          .output("Output", "[images, height, width, 2], or [images, depth, height, width, 3]")
          .infer(infer_affine_grid)
          .gradient("affine_grid_grad", {"Output@GRAD"}, {"Theta@GRAD"})
          .on_gpu()
          .kernels<AffineGridKernel, float, double>());
  ops.add(ops.gradient_of("affine_grid")
              .optional_input("Theta", "which PaddlePaddle passes; not read")
              .optional_input("OutputShape", "which PaddlePaddle passes; not read")
              .doc("Theta@GRAD = the sum over the pixels of Output@GRAD times their coordinates.")
              .infer(infer_affine_grid_grad)
              .kernels<AffineGridGradKernel, float, double>());
}

}  // namespace paddle_mini
