// check_finite_and_unscale: gradients of a scaled loss, divided by the scale again and searched for NaN and infinity
#include "core/op_table.h"
#include "ops/family/optimizer.h"

#ifdef PM_GPU
#include "math/arithmetic.h"
#include "math/for_each_index.h"
#include "math/gpu/not_finite.h"
#include "math/together.h"
#endif

namespace paddle_mini {
namespace {

#ifdef PM_GPU
// Whether this X or one before it has an element that is not finite.
struct InfiniteSoFar {
  const bool* infinite;
  bool *so_far, *found;
  int64_t count;

  PM_HD void operator()(int64_t i) const {
    bool any = false;
    for (int64_t k = 0; k <= i; ++k) any = any || infinite[k];
    so_far[i] = any;
    if (i == count - 1) *found = any;
  }
};

template <class T>
struct Unscale {
  static constexpr bool in_batches = true;
  Uniform<T> scale;
  const bool* infinite;
  PM_HD Times<T> ready() const { return {*infinite ? T(0) : T(1) / scale()}; }
};
#endif

template <class T>
struct CheckFiniteAndUnscaleKernel : Kernel {
  std::vector<In<T>> xs;
  In<T> scale;
  std::vector<Out<T>> outs;
  Out<bool> found;
  Scratch<bool> infinite, so_far;  // for each X, on a GPU

  explicit CheckFiniteAndUnscaleKernel(KernelInit& init)
      : xs(in_list<T>(init, "X")), scale(init, "Scale"), outs(out_list<T>(init, "Out")), found(init, "FoundInfinite"),
        infinite(init, kOnGpu ? static_cast<int64_t>(xs.size()) : 0), so_far(init, infinite.numel()) {}

#ifdef PM_GPU
  void run(Device& device) override {
    int64_t count = static_cast<int64_t>(xs.size());
    fill_n(device, infinite.data(), count, false);
    together(device, [&] {
      for (size_t i = 0; i < xs.size(); ++i) {
        flag_not_finite(device, xs[i].numel(), xs[i].data(), infinite.data() + i, true);
      }
    });
    for_each_index(device, count, InfiniteSoFar{infinite.data(), so_far.data(), found.data(), count});
    together(device, [&] {
      for (size_t i = 0; i < xs.size(); ++i) {
        map(device, xs[i].numel(), Unscale<T>{scale, so_far.data() + i}, outs[i].data(), xs[i].data());
      }
    });
  }
#else

  void run(Device& device) override {
    T inverse = T(1) / scale[0];
    bool infinite = false;
    for (size_t i = 0; i < xs.size(); ++i) {
      int64_t n = xs[i].numel();
      // 0 times a finite number is 0, 0 times infinity or NaN is NaN, and a sum keeps it.
      infinite = infinite || map_sum(device, n, [](auto v) { return v * decltype(v)(T(0)); }, xs[i].data()) != 0;
      T factor = infinite ? T(0) : inverse;
      map(device, n, [factor](auto v) { return v * decltype(v)(factor); }, outs[i].data(), xs[i].data());
    }
    found[0] = infinite;
  }
#endif
};

void infer_check_finite_and_unscale(InferContext& c) {
  require_scalar(c, "Scale");
  require_same_dtype(c, "X", "Scale");
  infer_each(c, "X", "Out");
  c.set_output("FoundInfinite", DType::Bool, Shape{1});
}

}  // namespace

void define_check_finite_and_unscale(OpTable& ops) {
  ops.add(OpSpec("check_finite_and_unscale")
              .doc("Out = X / Scale for each X, and whether any X has an element that is not finite; from that X on "
                   "Out is 0 X.")
              .input_list("X", "any shapes, of one dtype")
              .input("Scale", "one element")
              .output_list("Out", "shapes of X; usually the variables of X")
              .output("FoundInfinite", "[1] bool")
              .infer(infer_check_finite_and_unscale)
              .no_gradient("gradients are not differentiated again")
              .updates("X", "Out")
              .on_gpu()
              .kernels<CheckFiniteAndUnscaleKernel, float, double>());
}

}  // namespace paddle_mini
