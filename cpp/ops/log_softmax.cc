// log_softmax: Out = X - log(sum of exp(X) along an axis)
#include "core/op_table.h"
#include "math/map.h"

#ifdef PM_GPU
#include "math/log_softmax_gpu.h"
#endif

namespace paddle_mini {
namespace {

// A tensor as [outer, size, inner] around the axis; one number is its own axis, which may be called -1 or 0.
struct LogSoftmaxAround {
  int64_t outer = 1, size = 1, inner = 1;

  LogSoftmaxAround(const Shape& x, int32_t axis) {
    int at = normal_axis(axis, std::max(x.rank(), 1), "axis");
    if (x.rank() == 0) return;
    outer = x.numel(0, at), size = x[at], inner = x.numel(at + 1, x.rank());
    if (size == 0) outer = 0;
  }
};

// The largest element is subtracted first, so exp never overflows.
template <class T>
struct LogSoftmaxKernel : Kernel {
  In<T> x;
  Out<T> out;
  LogSoftmaxAround a;
  Scratch<T> largest, sums;

  explicit LogSoftmaxKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), a(x.shape(), init.attr<int32_t>("axis")), largest(init, a.inner),
        sums(init, a.inner) {}

#ifdef PM_GPU
  void run(Device& device) override {
    log_softmax_gpu::Forward<T> body{{a.outer, a.size, a.inner}, x.data(), out.data()};
    launch(device, body.blocks(), body);
  }
#else
  void run(Device& device) override {
    int64_t block = a.size * a.inner;
    for (int64_t o = 0; o < a.outer; ++o) {
      if (a.inner == 1) row(device, x.data() + o * block, out.data() + o * block);
      else columns(device, x.data() + o * block, out.data() + o * block);
    }
  }

  void row(Device& device, const T* from, T* to) {
    T top = from[0];
    for (int64_t i = 1; i < a.size; ++i) top = maximum(top, from[i]);
    auto part = [top](auto v) { return exp(v - decltype(v)(top)); };
    T rest = std::log(static_cast<T>(map_sum(device, a.size, part, from)));
    auto shift = [top, rest](auto v) { return v - decltype(v)(top) - decltype(v)(rest); };
    map(device, a.size, shift, to, from);
  }

  void columns(Device& device, const T* from, T* to) {
    int64_t n = a.inner;
    const T *tops = largest.data(), *totals = sums.data();
    std::copy_n(from, n, largest.data());
    for (int64_t i = 1; i < a.size; ++i) {
      map(device, n, [](auto v, auto w) { return maximum(v, w); }, largest.data(), tops, from + i * n);
    }
    std::fill_n(sums.data(), n, T(0));
    auto add = [](auto total, auto v, auto top) { return total + exp(v - top); };
    for (int64_t i = 0; i < a.size; ++i) map(device, n, add, sums.data(), totals, from + i * n, tops);
    map(device, n, [](auto total) { return log(total); }, sums.data(), totals);
    auto shift = [](auto v, auto top, auto rest) { return v - top - rest; };
    for (int64_t i = 0; i < a.size; ++i) map(device, n, shift, to + i * n, from + i * n, tops, totals);
  }
#endif
};

template <class T>
struct LogSoftmaxGradKernel : Kernel {
  In<T> out, out_gradient;
  Out<T> x_gradient;
  LogSoftmaxAround a;
  Scratch<T> sums;

  explicit LogSoftmaxGradKernel(KernelInit& init)
      : out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        a(out.shape(), init.attr<int32_t>("axis")), sums(init, a.inner) {}

#ifdef PM_GPU
  void run(Device& device) override {
    log_softmax_gpu::Backward<T> body{{a.outer, a.size, a.inner}, out.data(), out_gradient.data(), x_gradient.data()};
    launch(device, body.blocks(), body);
  }
#else
  void run(Device& device) override {
    int64_t block = a.size * a.inner;
    for (int64_t o = 0; o < a.outer; ++o) {
      const T *y = out.data() + o * block, *g = out_gradient.data() + o * block;
      T* to = x_gradient.data() + o * block;
      if (a.inner == 1) {
        T sum = static_cast<T>(map_sum(device, a.size, [](auto v) { return v; }, g));
        map(device, a.size, [sum](auto v, auto w) { return w - exp(v) * decltype(v)(sum); }, to, y, g);
      } else {
        columns(device, y, g, to);
      }
    }
  }

  void columns(Device& device, const T* y, const T* g, T* to) {
    int64_t n = a.inner;
    const T* totals = sums.data();
    std::fill_n(sums.data(), n, T(0));
    auto add = [](auto total, auto v) { return total + v; };
    for (int64_t i = 0; i < a.size; ++i) map(device, n, add, sums.data(), totals, g + i * n);
    auto pass = [](auto v, auto w, auto total) { return w - exp(v) * total; };
    for (int64_t i = 0; i < a.size; ++i) map(device, n, pass, to + i * n, y + i * n, g + i * n, totals);
  }
#endif
};

}  // namespace

void define_log_softmax(OpTable& ops) {
  ops.add(OpSpec("log_softmax")
              .doc("Out = X - log(sum of exp(X) along the axis): logarithms of probabilities.")
              .input("X", "any shape")
              .output("Out", "shape of X")
              .attr("axis", -1, "the axis; negative ones count from the end")
              .infer([](InferContext& c) {
                require_tensors(c);
                LogSoftmaxAround(c.shape("X"), c.attr<int32_t>("axis"));
                c.set_output("Out", c.input("X"));
              })
              .gradient("log_softmax_grad", {"Out", "Out@GRAD"}, {"X@GRAD"})
              .in_place("X", "Out")
              .on_gpu()
              .kernels<LogSoftmaxKernel, float, double>());
  ops.add(ops.gradient_of("log_softmax")
              .doc("X@GRAD = Out@GRAD - exp(Out) (sum of Out@GRAD along the axis).")
              .infer([](InferContext& c) {
                require_tensors(c);
                LogSoftmaxAround(c.shape("Out"), c.attr<int32_t>("axis"));
                require_same_dtype(c, "Out", "Out@GRAD");
                require_same_shape(c, "Out", "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out"));
              })
              .in_place("Out@GRAD", "X@GRAD")
              .kernels<LogSoftmaxGradKernel, float, double>());
}

}  // namespace paddle_mini
