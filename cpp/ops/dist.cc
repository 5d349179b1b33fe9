// dist: Out = the p-norm of X - Y, stretched as NumPy does
#include "math/axis_walk.h"
#include "math/broadcast.h"
#include "math/p_norm.h"

#ifdef PM_GPU
#include "math/fold_gpu.h"
#include "math/for_each_index.h"
#endif

namespace paddle_mini {
namespace {

constexpr float kEpsilon = 1e-12f;

struct Difference {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return x - y;
  }
};
// Of slopes in the gradient's place.
struct SlopeOfX {
  template <class V>
  PM_HD V operator()(V, V, V slope) const {
    return slope;
  }
};
struct SlopeOfY {
  template <class V>
  PM_HD V operator()(V, V, V slope) const {
    return -slope;
  }
};

#ifdef PM_GPU
template <class T>
struct DistTerm {
  PNorm norm;
  const T* difference;
  PM_DEVICE double operator()(const int64_t (&at)[1]) const { return norm.term(difference[at[0]]); }
};
struct DistJoin {
  PNorm norm;
  PM_DEVICE double operator()(double a, double b) const { return norm.join(a, b); }
};
template <class T>
struct PutDist {
  PNorm norm;
  T* out;
  PM_DEVICE void operator()(int64_t, double sum) const { *out = static_cast<T>(norm.of(sum)); }
};

template <class T>
struct DistSlope {
  PNorm norm;
  const T *out, *gradient;
  T* slope;  // a difference before
  PM_DEVICE void operator()(int64_t i) const {
    slope[i] = static_cast<T>(norm.slope(slope[i], *out) * static_cast<double>(*gradient));
  }
};
#endif

template <class T>
struct DistKernel : Kernel {
  In<T> x, y;
  Out<T> out;
  Broadcast broadcast;
  PNorm norm;
  Scratch<T> differences;

  explicit DistKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out(init, "Out"), broadcast(x.shape(), y.shape(), -1),
        norm(init.attr<float>("p"), kEpsilon), differences(init, broadcast.numel()) {}

  void run(Device& device) override {
    broadcast.map(device, Difference{}, x.data(), y.data(), differences.data());
#ifdef PM_GPU
    Walk<1> one, all;
    all.add(broadcast.numel(), {1});
    fold(device, one, all, norm.first(), DistTerm<T>{norm, differences.data()}, DistJoin{norm},
         PutDist<T>{norm, out.data()});
#else
    double sum = norm.first();
    norm.with_step([&](auto step) {
      for (int64_t i = 0; i < broadcast.numel(); ++i) sum = step(sum, differences[i]);
    });
    out[0] = static_cast<T>(norm.of(sum));
#endif
  }
};

template <class T>
struct DistGradKernel : Kernel {
  In<T> x, y, out, out_gradient;
  Out<T> x_gradient, y_gradient;
  Broadcast broadcast;
  PNorm norm;
  Scratch<T> slopes;

  explicit DistGradKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out(init, "Out"), out_gradient(init, "Out@GRAD"),
        x_gradient(init, "X@GRAD", optional_port), y_gradient(init, "Y@GRAD", optional_port),
        broadcast(x.shape(), y.shape(), -1), norm(init.attr<float>("p"), kEpsilon), slopes(init, broadcast.numel()) {}

  void run(Device& device) override {
    broadcast.map(device, Difference{}, x.data(), y.data(), slopes.data());
#ifdef PM_GPU
    for_each_index(device, broadcast.numel(), DistSlope<T>{norm, out.data(), out_gradient.data(), slopes.data()});
#else
    double g = out_gradient[0], length = out[0];
    for (int64_t i = 0; i < broadcast.numel(); ++i) slopes[i] = static_cast<T>(norm.slope(slopes[i], length) * g);
#endif
    const T* s = slopes.data();
    if (x_gradient) broadcast.sum_to_x(device, SlopeOfX{}, x.data(), y.data(), s, x_gradient.data());
    if (y_gradient) broadcast.sum_to_y(device, SlopeOfY{}, x.data(), y.data(), s, y_gradient.data());
  }
};

void check_dist(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  broadcast_shape(c.shape("X"), c.shape("Y"), -1);
  require<ProgramError>(!std::isnan(c.attr<float>("p")), "attribute 'p' is NaN");
}

}  // namespace

void define_dist(OpTable& ops) {
  ops.add(OpSpec("dist")
              .doc("Out = (sum of |X - Y|^p)^(1/p) over all elements.")
              .attr("p", 2.0f, "the order; inf, -inf: the largest, the smallest difference; 0: how many there are")
              .input("X", "any shape")
              .input("Y", "a shape that stretches with X's")
              .output("Out", "one number, []")
              .infer([](InferContext& c) {
                check_dist(c);
                c.set_output("Out", c.input("X").dtype, Shape{});
              })
              .gradient("dist_grad", {"X", "Y", "Out", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .on_gpu()
              .kernels<DistKernel, float, double>());
  ops.add(ops.gradient_of("dist")
              .doc("X@GRAD = Out@GRAD sign(D) |D|^(p-1) / (Out^(p-1) + 1e-12) with D = X - Y, Y@GRAD = -that, each "
                   "summed over the axes it was stretched along; 0 where D is 0.")
              .kernels<DistGradKernel, float, double>());
}

}  // namespace paddle_mini
