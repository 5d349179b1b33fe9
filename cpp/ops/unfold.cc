// unfold: the patches of an image as columns of a matrix; fold: an image as the sum of its patches
#include "core/op_table.h"
#include "core/second_gradient.h"
#include "math/volume.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

// Reads attributes of two and of four numbers; the image is treated as a volume of depth 1. The order of paddings is
// above, left, below, right.
template <class Context>
VolumeAxes unfold_axes_of(const Context& c, int64_t height, int64_t width) {
  auto read = [&c](const char* name, size_t count) {
    std::vector<int32_t> values = c.template attr<std::vector<int32_t>>(name);
    require<ProgramError>(values.size() == count, "attribute '", name, "' has ", values.size(), " numbers, ", count,
                          " are needed");
    return values;
  };
  std::vector<int32_t> size = read("kernel_sizes", 2), stride = read("strides", 2), dilation = read("dilations", 2);
  std::vector<int32_t> padding = read("paddings", 4);
  for (int32_t k : size) require<ProgramError>(k >= 1, "attribute 'kernel_sizes' holds ", k, ", it must be at least 1");
  WindowAttributes window(2);
  window.strides = stride, window.dilations = dilation;
  window.paddings = {padding[0], padding[2], padding[1], padding[3]};
  auto [rows, columns] = window.axes<2>({height, width}, {size[0], size[1]});
  return {WindowAxis(), rows, columns};
}

// Converts between `image` [images, channels, height, width] and `columns` [images, channels taps, patches].
template <class T>
struct Patches {
  int64_t images, image_size, columns_size;
  VolumePatches patches;

  Patches(const KernelInit& init, const Shape& image)
      : images(image[0]), image_size(image[1] * image[2] * image[3]),
        patches{unfold_axes_of(init, image[2], image[3]), image[1], image[2] * image[3], 1} {
    columns_size = patches.elements();
  }

  void gather(KernelContext&, const T* image, T* columns) const;
  void add_up(KernelContext&, const T* columns, T* image) const;
};

// to_columns: patches from an image to columns, or else summed back.
template <bool to_columns, bool backward>
struct PatchesKernel {
  template <class T>
  struct For : Kernel {
    In<T> from;
    Out<T> to;
    Patches<T> patches;

    explicit For(KernelInit& init)
        : from(init, backward ? "Y@GRAD" : "X"), to(init, backward ? "X@GRAD" : "Y"),
          patches(init, to_columns ? from.shape() : to.shape()) {}
    void run(KernelContext& context) override {
      if (to_columns) patches.gather(context, from.data(), to.data());
      else patches.add_up(context, from.data(), to.data());
    }
  };
};

int64_t unfold_product(int64_t a, int64_t b) { return a < 0 || b < 0 ? -1 : Shape{a, b}.numel(); }

int64_t taps_of(const VolumeAxes& axes) { return axes[1].window * axes[2].window; }

Shape unfolded(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", 4);
  const Shape& x = c.shape("X");
  VolumeAxes axes = unfold_axes_of(c, x[2], x[3]);
  return {x[0], unfold_product(x[1], taps_of(axes)), unfold_product(axes[1].out, axes[2].out)};
}

Shape folded(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", 3);
  const Shape& x = c.shape("X");
  const auto& size = c.attr<std::vector<int32_t>>("output_sizes");
  require<ProgramError>(size.size() == 2, "attribute 'output_sizes' has ", size.size(), " numbers, it must have 2");
  for (int32_t s : size) require<ProgramError>(s >= 1, "attribute 'output_sizes' holds ", s, ", it must be at least 1");
  VolumeAxes axes = unfold_axes_of(c, size[0], size[1]);
  int64_t patches = unfold_product(axes[1].out, axes[2].out), taps = taps_of(axes);
  require<ShapeError>(dims_agree(x[2], patches), "X has ", x[2], " patches, an image of ", size[0], " by ", size[1],
                      " has ", patches);
  require<ShapeError>(x[1] < 0 || x[1] % taps == 0, "X has ", x[1], " rows, which can't be divided into channels of ",
                      taps);
  return {x[0], x[1] < 0 ? -1 : x[1] / taps, size[0], size[1]};
}

OpSchema unfold_with_attributes(OpSchema schema) {
  return schema.required_attr("kernel_sizes", AttrType::Ints, "height and width of a patch")
      .attr("strides", std::vector<int32_t>{1, 1}, "stride of the patches: height, width")
      .attr("paddings", std::vector<int32_t>{0, 0, 0, 0}, "zeros around the image: above, left, below, right")
      .attr("dilations", std::vector<int32_t>{1, 1}, "distance between pixels of a patch: height, width");
}

OpSchema with_size(OpSchema schema) {
  return unfold_with_attributes(schema.required_attr("output_sizes", AttrType::Ints, "height and width of the image"));
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(unfold)

namespace paddle_mini {

void define_unfold(OpTable& ops) {
  ops.add(unfold_with_attributes(OpSchema("unfold")
                                     .input("X", "[images, channels, height, width]")
                                     .output("Y", "[images, channels patch height patch width, patches]"))
              .doc("Column p of Y holds the pixels of patch p in the order channel, row, column; pixels outside of the "
                   "image are zeros.")
              .infer([](InferContext& c) { c.set_output("Y", c.input("X").dtype, unfolded(c)); })
              .gradient("unfold_grad", {"X", "Y@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<PatchesKernel<true, false>::For, float, double>());
  ops.add(linear_gradient_of(ops, "unfold")
              .doc("X@GRAD = fold of Y@GRAD: for every pixel, the sum over the patches that contain it.")
              .kernels<PatchesKernel<false, true>::For, float, double>());
  ops.add(with_complex<PatchesKernel<false, false>::For>(
      with_size(OpSchema("fold")
                    .input("X", "[images, channels patch height patch width, patches]")
                    .output("Y", "[images, channels, height, width]"))
          .doc("Y = images in which each pixel is the sum over the patches that contain it: the transpose of unfold.")
          .infer([](InferContext& c) { c.set_output("Y", c.input("X").dtype, folded(c)); })
          .gradient("fold_grad", {"X", "Y@GRAD"}, {"X@GRAD"})
          .on_gpu()
          .kernels<PatchesKernel<false, false>::For, float, double>()));
  ops.add(with_complex<PatchesKernel<true, true>::For>(linear_gradient_of(ops, "fold")
                                                           .doc("X@GRAD = unfold of Y@GRAD.")
                                                           .kernels<PatchesKernel<true, true>::For, float, double>()));
}

}  // namespace paddle_mini
