// kron: the Kronecker product: each element of X times the entire Y
#include "math/wrapping_times.h"
#include "math/axis_index_map.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

// The sizes of X and Y along each axis; the shape with fewer axes is padded with ones in front.
struct KronSizes {
  std::vector<int64_t> x, y;

  KronSizes(const Shape& x_shape, const Shape& y_shape) : x(padded(x_shape, y_shape)), y(padded(y_shape, x_shape)) {}

  static std::vector<int64_t> padded(const Shape& shape, const Shape& other) {
    std::vector<int64_t> sizes(static_cast<size_t>(std::max(other.rank() - shape.rank(), 0)), 1);
    sizes.insert(sizes.end(), shape.begin(), shape.end());
    return sizes;
  }

  Shape out() const {
    Shape shape;
    for (size_t i = 0; i < x.size(); ++i) shape.push_back(x[i] < 0 || y[i] < 0 ? -1 : x[i] * y[i]);
    return shape;
  }

  // Each axis of Out is split into an axis of X and, inside of it, an axis of Y. The loop moves along one of the two.
  AxisLoop loop(bool over_x) const {
    AxisIndexMaps index_maps;
    for (size_t i = 0; i < x.size(); ++i) {
      for (bool of_x : {true, false}) {
        AxisIndexMap index_map;
        index_map.out = of_x ? x[i] : y[i];
        index_map.in = of_x == over_x ? index_map.out : 1;
        index_map.step = of_x == over_x ? 1 : 0;
        index_maps.push_back(index_map);
      }
    }
    return AxisLoop(index_maps);
  }
};

template <class T>
struct KronKernel : Kernel {
  In<T> x, y;
  Out<T> out;
  AxisLoop over_x, over_y;
  Scratch<T> broadcast_y;  // Y in the shape of Out; only on a GPU

  explicit KronKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out(init, "Out"), over_x(KronSizes(x.shape(), y.shape()).loop(true)),
        over_y(KronSizes(x.shape(), y.shape()).loop(false)), broadcast_y(init, kOnGpu ? out.numel() : 0) {}

  void run(KernelContext& context) override;
};

template <class T>
struct KronGradKernel : Kernel {
  In<T> x, y, out_gradient;
  Out<T> x_gradient, y_gradient;
  AxisLoop over_x, over_y;
  Scratch<T> products;  // Out@GRAD times the other operand

  explicit KronGradKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        y_gradient(init, "Y@GRAD", optional_port), over_x(KronSizes(x.shape(), y.shape()).loop(true)),
        over_y(KronSizes(x.shape(), y.shape()).loop(false)), products(init, out_gradient.numel()) {}

  void run(KernelContext& context) override {
    if (x_gradient) pass(context, over_y, y.data(), over_x, x_gradient.data());
    if (y_gradient) pass(context, over_x, x.data(), over_y, y_gradient.data());
  }

  void pass(KernelContext& context, const AxisLoop& over_other, const T* other, const AxisLoop& over_own, T* to) {
    over_other.copy(context, other, products.data(), T(0));
    const T* scaled = products.data();
    map(context, products.numel(), WrappingTimes(), products.data(), scaled, out_gradient.data());
    over_own.add_back(context, scaled, to);
  }
};

Shape kron_out_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  return KronSizes(c.shape("X"), c.shape("Y")).out();
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(kron)

namespace paddle_mini {

void define_kron(OpTable& ops) {
  ops.add(OpSchema("kron")
              .doc("Out[i m + j] = X[i] Y[j] along each axis, where m is the size of Y; the tensor with fewer axes "
                   "gets axes of 1 in front. Integers wrap around.")
              .input("X", "any shape")
              .input("Y", "any shape")
              .output("Out", "the sizes of X times those of Y")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, kron_out_shape(c)); })
              .gradient("kron_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .on_gpu()
              .kernels<KronKernel, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("kron")
              .doc("X@GRAD[i] = the sum over j of Out@GRAD[i m + j] Y[j], Y@GRAD[j] = that over i with X[i].")
              .kernels<KronGradKernel, float, double>());
}

}  // namespace paddle_mini
