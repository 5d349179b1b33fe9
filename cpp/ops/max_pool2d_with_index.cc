// max_pool2d_with_index: the maximum of every window of an image, and its position in the image
#include "core/op_table.h"
#include "math/pooled_axis.h"
#include "math/segmented_scatter.h"

#include <limits>

namespace paddle_mini {
namespace {

// An image is treated as a volume of depth 1; `rank` is the rank of X, 4 or 5.
template <int rank>
struct Planes {
  int64_t count;
  std::array<int64_t, 3> sizes{1, 1, 1};

  explicit Planes(const Shape& x) : count(x.numel(0, 2)) {
    for (int i = 2; i < rank; ++i) sizes[i + 3 - rank] = x[i];
  }
  int64_t size() const { return sizes[0] * sizes[1] * sizes[2]; }
};

template <int rank, class Context>
VolumeAxes max_pool_axes_of(const Context& c, const std::array<int64_t, 3>& sizes) {
  constexpr size_t n = rank - 2;
  WindowAttributes window(n);
  window.strides = c.template attr<std::vector<int32_t>>("strides");
  window.paddings = c.template attr<std::vector<int32_t>>("paddings");
  require<ProgramError>(window.paddings.size() == n, "attribute 'paddings' has ", window.paddings.size(), " numbers, ",
                        n, " are needed");
  std::array<int64_t, n> plane;
  std::copy_n(sizes.end() - n, n, plane.begin());
  VolumeAxes axes;
  std::array<WindowAxis, n> of_plane = pooled_axes(c, window, plane);
  std::copy_n(of_plane.begin(), n, axes.end() - n);
  return axes;
}

template <int rank>
Shape max_pool_shape(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", rank);
  const Shape& x = c.shape("X");
  Planes<rank> planes(x);
  for (int64_t size : planes.sizes) {
    require<ShapeError>(size != 0, "X has shape ", x.str(), ": it has no elements to pool");
  }
  int64_t plane = x.numel(2, rank);
  require<ShapeError>(plane <= std::numeric_limits<int32_t>::max(), "X has shape ", x.str(),
                      ": Mask is int32, which can't index all elements of a plane");
  VolumeAxes axes = max_pool_axes_of<rank>(c, planes.sizes);
  Shape out{x[0], x[1]};
  for (int i = 5 - rank; i < 3; ++i) out.push_back(c.attr<bool>("global_pooling") ? 1 : axes[i].out);
  return out;
}

template <int rank>
OpSchema max_pool_with_attributes(OpSchema schema) {
  std::vector<int32_t> ones(rank - 2, 1), zeros(rank - 2, 0);
  return schema.required_attr("ksize", AttrType::Ints, "size of the window; with `adaptive`, of the output")
      .attr("strides", ones, "stride of the window")
      .attr("paddings", zeros, "padding around the image, for each axis")
      .attr("global_pooling", false, "whether the window is the whole image")
      .attr("adaptive", false, "whether ksize is the size of the output, from which the windows are computed");
}

template <int rank>
struct MaxPoolWithIndexGrad {
  template <class T>
  struct For : Kernel {
    In<int32_t> mask;
    In<T> out_gradient;
    Out<T> x_gradient;
    Planes<rank> planes;
    SegmentedScatter by_element;

    explicit For(KernelInit& init)
        : mask(init, "Mask"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), planes(x_gradient.shape()),
          by_element(init, mask.numel()) {}

    void refuse(const Fault& fault) const override {
      fail<OpError>("Mask holds ", fault.value, ", a plane of X has ", planes.size(), " elements");
    }
    void run(KernelContext& context) override;
  };
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(max_pool2d_with_index)

namespace paddle_mini {
namespace {

template <int rank>
void define_pooling(OpTable& ops, const std::string& type) {
  const char* shape = rank == 4 ? "[images, channels, height, width]" : "[images, channels, depth, height, width]";
  ops.add(max_pool_with_attributes<rank>(OpSchema(type)
                                             .input("X", shape)
                                             .output("Out", "X's shape with the size of the output")
                                             .output("Mask", "int32, shape of Out"))
              .doc("Out = the largest element of each window, or its first NaN. Mask = its row-major index in the "
                   "plane of its channel; -1 if the window has only padding.")
              .infer([](InferContext& c) {
                Shape out = max_pool_shape<rank>(c);
                c.set_output("Out", c.input("X").dtype, out);
                c.set_output("Mask", DType::Int32, out);
              })
              .gradient(type + "_grad", {"X", "Mask", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .template kernels<MaxPoolWithIndex<rank>::template For, float, double>());
  ops.add(ops.gradient_of(type)
              .doc("Each Out@GRAD is added to the element that Mask names.")
              .checks_data()
              .kernels<MaxPoolWithIndexGrad<rank>::template For, float, double>());
}

}  // namespace

// The same operator for images and for volumes.
void define_max_pool2d_with_index(OpTable& ops) {
  define_pooling<4>(ops, "max_pool2d_with_index");
  define_pooling<5>(ops, "max_pool3d_with_index");
}

}  // namespace paddle_mini
