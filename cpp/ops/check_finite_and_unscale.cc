// check_finite_and_unscale: gradients of a scaled loss, divided by the scale again and searched for NaN and infinity
#include "core/op_table.h"
#include "math/optimizer.h"

namespace paddle_mini {
namespace {

template <class T>
struct CheckFiniteAndUnscaleKernel : Kernel {
  std::vector<In<T>> xs;
  In<T> scale;
  std::vector<Out<T>> outs;
  Out<bool> found;

  explicit CheckFiniteAndUnscaleKernel(KernelInit& init)
      : xs(in_list<T>(init, "X")), scale(init, "Scale"), outs(out_list<T>(init, "Out")), found(init, "FoundInfinite") {}

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
              .kernels<CheckFiniteAndUnscaleKernel, float, double>());
}

}  // namespace paddle_mini
