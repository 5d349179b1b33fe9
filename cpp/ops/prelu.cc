// prelu: Out = X where X > 0, else a learned factor times X
#include "core/op_table.h"
#include "math/broadcast.h"

namespace paddle_mini {
namespace {

struct Prelu {
  template <class V>
  PM_HD V operator()(V x, V alpha) const {
    return select(x > V(0), x, alpha * x);
  }
};

struct PreluToX {
  template <class V>
  PM_HD V operator()(V x, V alpha, V gradient) const {
    return select(x > V(0), gradient, alpha * gradient);
  }
};

struct PreluToAlpha {
  template <class V>
  PM_HD V operator()(V x, V, V gradient) const {
    return select(x > V(0), V(0), x * gradient);
  }
};

// X viewed as three dimensions, the middle one of which indexes Alpha.
struct Parts {
  int64_t before, factors, behind;
};

Parts parts_of(const Shape& x, const std::string& mode, const std::string& data_format) {
  int rank = x.rank();
  if (mode == "all") return {1, 1, x.numel(0, rank)};
  if (mode == "element") return {x[0], x.numel(1, rank), 1};
  int channel = data_format == "NHWC" ? rank - 1 : 1;
  return {x.numel(0, channel), x[channel], x.numel(channel + 1, rank)};
}

template <class Init>
Parts parts_of(const Shape& x, const Init& init) {
  return parts_of(x, init.template attr<std::string>("mode"), init.template attr<std::string>("data_format"));
}

Broadcast loops(const Shape& x, const KernelInit& init) {
  Parts parts = parts_of(x, init);
  return Broadcast(Shape({parts.before, parts.factors, parts.behind}), Shape({parts.factors, 1}), -1);
}

template <class T>
struct PreluKernel : Kernel {
  In<T> x, alpha;
  Out<T> out;
  Broadcast broadcast;

  explicit PreluKernel(KernelInit& init)
      : x(init, "X"), alpha(init, "Alpha"), out(init, "Out"), broadcast(loops(x.shape(), init)) {}
  void run(KernelContext& context) override { broadcast.map(context, Prelu{}, x.data(), alpha.data(), out.data()); }
};

template <class T>
struct PreluGradKernel : Kernel {
  In<T> x, alpha, out_gradient;
  Out<T> x_gradient, alpha_gradient;
  Broadcast broadcast;

  explicit PreluGradKernel(KernelInit& init)
      : x(init, "X"), alpha(init, "Alpha"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        alpha_gradient(init, "Alpha@GRAD", optional_port), broadcast(loops(x.shape(), init)) {}

  void run(KernelContext& context) override {
    const T* g = out_gradient.data();
    // Alpha first: X@GRAD may share the memory of Out@GRAD.
    if (alpha_gradient) broadcast.sum_to_y(context, PreluToAlpha{}, x.data(), alpha.data(), g, alpha_gradient.data());
    if (x_gradient) broadcast.sum_to_x(context, PreluToX{}, x.data(), alpha.data(), g, x_gradient.data());
  }
};

void check_factors(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Alpha");
  const Shape &x = c.shape("X"), &alpha = c.shape("Alpha");
  const std::string& mode = c.attr<std::string>("mode");
  int least = mode == "all" ? 0 : mode == "element" ? 1 : 2;
  require<ShapeError>(x.rank() >= least, "X ", x.str(), " has rank ", x.rank(), ", mode '", mode, "' needs at least ",
                      least);
  int64_t factors = parts_of(x, c).factors;
  require<ShapeError>(dims_agree(alpha.numel(0, alpha.rank()), factors), "Alpha ", alpha.str(), " must have ", factors,
                      " elements for X ", x.str(), " and mode '", mode, "'");
}

}  // namespace

void define_prelu(OpTable& ops) {
  ops.add(OpSchema("prelu")
              .doc("Out = X where X > 0, else Alpha X, element by element.")
              .attr("mode", "all", "one factor for 'all', for each 'channel', or for each 'element' of a sample",
                    one_of({"all", "channel", "element"}))
              .attr("data_format", "NCHW", "the axis of the channels: 'NCHW', axis 1; 'NHWC', the last",
                    one_of({"NCHW", "NHWC"}))
              .input("X", "any shape")
              .input("Alpha", "the factors: one element, X's channels, or the elements of a sample X[0]")
              .output("Out", "shape of X")
              .infer([](InferContext& c) {
                check_factors(c);
                c.set_output("Out", c.input("X"));
              })
              .gradient("prelu_grad", {"X", "Alpha", "Out@GRAD"}, {"X@GRAD", "Alpha@GRAD"})
              .in_place("X", "Out")
              .on_gpu()
              .kernels<PreluKernel, float, double>());
  ops.add(ops.gradient_of("prelu")
              .doc("X@GRAD = Out@GRAD where X > 0, else Alpha Out@GRAD; Alpha@GRAD = X Out@GRAD where X <= 0, summed "
                   "over the elements with the same factor.")
              .in_place("Out@GRAD", "X@GRAD")
              .kernels<PreluGradKernel, float, double>());
}

}  // namespace paddle_mini
