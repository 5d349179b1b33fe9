// norm: Out = X / Norm, Norm = sqrt(sum of X^2 along an axis + epsilon)
#include <cmath>

#include "core/op_table.h"
#include "math/map.h"

#ifdef PM_GPU
#include "math/lines_gpu.h"
#endif

namespace paddle_mini {
namespace {

// A tensor as [outer, size, inner] around the axis.
struct NormAround {
  int64_t outer, size, inner;

  NormAround(const Shape& x, int32_t axis) {
    int at = normal_axis(axis, x.rank(), "axis");
    outer = x.numel(0, at), size = x[at], inner = x.numel(at + 1, x.rank());
  }
};

#ifdef PM_GPU
template <class T>
struct NormLines : Lines {
  const T* x;
  T *out, *norm;  // norm: may be none
  T epsilon;

  PM_DEVICE void operator()() const {
    PM_SHARED double sums[kThreads];
    each([&](const LinePart& part) {
      double sum = 0;
      each_element(part, [&](int64_t at, int64_t) { sum += x[at] * x[at]; });
      T root = sqrt(static_cast<T>(fold_line(sums, part, sum, Plus{})) + epsilon);
      if (norm && part.exists && part.lane == 0) norm[part.line] = root;
      each_element(part, [&](int64_t at, int64_t) { out[at] = x[at] / root; });
    });
  }
};

template <class T>
struct NormGradLines : Lines {
  const T *x, *norm, *gradient;
  T* to;

  PM_DEVICE void operator()() const {
    PM_SHARED double sums[kThreads];
    each([&](const LinePart& part) {
      double sum = 0;
      each_element(part, [&](int64_t at, int64_t) { sum += x[at] * gradient[at]; });
      T root = part.exists ? norm[part.line] : T(1);
      T dot = static_cast<T>(fold_line(sums, part, sum, Plus{})) / (root * root);
      each_element(part, [&](int64_t at, int64_t) { to[at] = (gradient[at] - x[at] * dot) / root; });
    });
  }
};
#endif

template <class T>
struct NormKernel : Kernel {
  In<T> x;
  Out<T> out, norm;
  NormAround a;
  T epsilon;
  Scratch<T> roots;  // of one block [size, inner]

  explicit NormKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), norm(init, "Norm", optional_port), a(x.shape(), init.attr<int32_t>("axis")),
        epsilon(static_cast<T>(init.attr<float>("epsilon"))), roots(init, a.inner) {}

#ifdef PM_GPU
  void run(Device& device) override {
    T* norms = norm ? norm.data() : nullptr;
    NormLines<T> body{{a.outer, a.size, a.inner}, x.data(), out.data(), norms, epsilon};
    launch(device, body.blocks(), body);
  }
#else
  void run(Device& device) override {
    const T* r = roots.data();
    auto add = [](auto sum, auto v) { return sum + v * v; };
    for (int64_t o = 0; o < a.outer; ++o) {
      const T* from = x.data() + o * a.size * a.inner;
      T* to = out.data() + o * a.size * a.inner;
      if (a.inner == 1) {
        roots[0] = static_cast<T>(map_sum(device, a.size, [](auto v) { return v * v; }, from));
      } else {
        std::fill_n(roots.data(), a.inner, T(0));
        for (int64_t i = 0; i < a.size; ++i) map(device, a.inner, add, roots.data(), r, from + i * a.inner);
      }
      for (int64_t i = 0; i < a.inner; ++i) roots[i] = std::sqrt(roots[i] + epsilon);
      if (norm) std::copy_n(r, a.inner, norm.data() + o * a.inner);
      divide(device, from, r, to);
    }
  }

  void divide(Device& device, const T* from, const T* r, T* to) {
    if (a.inner == 1) {
      map(device, a.size, [n = r[0]](auto v) { return v / decltype(v)(n); }, to, from);
      return;
    }
    for (int64_t i = 0; i < a.size; ++i) {
      map(device, a.inner, [](auto v, auto n) { return v / n; }, to + i * a.inner, from + i * a.inner, r);
    }
  }
#endif
};

// X@GRAD = (G - X sum(G X) / Norm^2) / Norm with G = Out@GRAD, sums along the axis.
template <class T>
struct NormGradKernel : Kernel {
  In<T> x, norm, out_gradient;
  Out<T> x_gradient;
  NormAround a;
  Scratch<T> dots;

  explicit NormGradKernel(KernelInit& init)
      : x(init, "X"), norm(init, "Norm"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        a(x.shape(), init.attr<int32_t>("axis")), dots(init, a.inner) {}

#ifdef PM_GPU
  void run(Device& device) override {
    NormGradLines<T> body{{a.outer, a.size, a.inner}, x.data(), norm.data(), out_gradient.data(), x_gradient.data()};
    launch(device, body.blocks(), body);
  }
#else
  void run(Device& device) override {
    auto pass = [](auto g, auto v, auto dot, auto n) { return (g - v * dot) / n; };
    for (int64_t o = 0; o < a.outer; ++o) {
      int64_t at = o * a.size * a.inner;
      const T *from = x.data() + at, *g = out_gradient.data() + at, *n = norm.data() + o * a.inner;
      T* to = x_gradient.data() + at;
      if (a.inner == 1) {
        T dot = static_cast<T>(map_sum(device, a.size, [](auto v, auto w) { return v * w; }, from, g)) / (*n * *n);
        auto row = [pass, dot, root = *n](auto w, auto v) { return pass(w, v, decltype(w)(dot), decltype(w)(root)); };
        map(device, a.size, row, to, g, from);
        continue;
      }
      dot_columns(device, from, g, n);
      const T* d = dots.data();
      for (int64_t i = 0; i < a.size; ++i) {
        map(device, a.inner, pass, to + i * a.inner, g + i * a.inner, from + i * a.inner, d, n);
      }
    }
  }

  void dot_columns(Device& device, const T* from, const T* g, const T* n) {
    const T* d = dots.data();
    auto add = [](auto sum, auto v, auto w) { return sum + v * w; };
    std::fill_n(dots.data(), a.inner, T(0));
    for (int64_t i = 0; i < a.size; ++i) {
      map(device, a.inner, add, dots.data(), d, from + i * a.inner, g + i * a.inner);
    }
    map(device, a.inner, [](auto dot, auto root) { return dot / (root * root); }, dots.data(), d, n);
  }
#endif
};

Shape norm_shape(const InferContext& c) {
  require_tensors(c);
  Shape norm = c.shape("X");
  norm[normal_axis(c.attr<int32_t>("axis"), norm.rank(), "axis")] = 1;
  return norm;
}

}  // namespace

void define_norm(OpTable& ops) {
  ops.add(OpSpec("norm")
              .doc("Out = X / Norm, Norm = sqrt(sum of X^2 along the axis + epsilon).")
              .input("X", "at least one dimension")
              .output("Out", "shape of X")
              .optional_output("Norm", "shape of X with 1 along the axis; not needed in testing")
              .required_attr("axis", AttrType::Int, "the axis; negative: from the end")
              .attr("epsilon", 1e-10f, "added to the sum of squares", at_least(0))
              .attr("is_test", false, "changes nothing; PaddlePaddle's norm_grad asks for it")
              .infer([](InferContext& c) {
                c.set_output("Norm", c.input("X").dtype, norm_shape(c));
                c.set_output("Out", c.input("X"));
              })
              .gradient("norm_grad", {"X", "Norm", "Out@GRAD"}, {"X@GRAD"})
              .in_place("X", "Out")
              .on_gpu()
              .kernels<NormKernel, float, double>());
  ops.add(ops.gradient_of("norm")
              .doc("X@GRAD = (Out@GRAD - X (sum of Out@GRAD X along the axis) / Norm^2) / Norm.")
              .in_place("Out@GRAD", "X@GRAD")
              .kernels<NormGradKernel, float, double>());
}

}  // namespace paddle_mini
