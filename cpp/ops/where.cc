// where: Out = X where Condition holds, Y elsewhere
#include "core/op_table.h"
#include "core/second_gradient.h"
#include "math/for_each_index.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

struct Chosen {
  template <class T>
  PM_HD T operator()(bool condition, T x, T y) const {
    return condition ? x : y;
  }
};

template <class T>
struct ToChosen {
  const bool* condition;
  const T* out_gradient;
  T *x_gradient, *y_gradient;  // nullptr: this gradient is not needed
  PM_HD void operator()(int64_t i) const {
    if (x_gradient) x_gradient[i] = condition[i] ? out_gradient[i] : T(0);
    if (y_gradient) y_gradient[i] = condition[i] ? T(0) : out_gradient[i];
  }
};

template <class T>
struct WhereKernel : Kernel {
  In<bool> condition;
  In<T> x, y;
  Out<T> out;

  explicit WhereKernel(KernelInit& init) : condition(init, "Condition"), x(init, "X"), y(init, "Y"), out(init, "Out") {}
  void run(KernelContext& context) override {
    map(context, out.numel(), Chosen(), out.data(), condition.data(), x.data(), y.data());
  }
};

template <class T>
struct WhereGradKernel : Kernel {
  In<bool> condition;
  In<T> out_gradient;
  Out<T> x_gradient, y_gradient;

  explicit WhereGradKernel(KernelInit& init)
      : condition(init, "Condition"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        y_gradient(init, "Y@GRAD", optional_port) {}
  void run(KernelContext& context) override {
    ToChosen<T> to_chosen{condition.data(), out_gradient.data(), x_gradient ? x_gradient.data() : nullptr,
                          y_gradient ? y_gradient.data() : nullptr};
    for_each_index(context, out_gradient.numel(), to_chosen);
  }
};

void where_require_alike(const InferContext& c) {
  require_tensors(c);
  require<ShapeError>(c.input("Condition").dtype == DType::Bool, "Condition is ", name_of(c.input("Condition").dtype),
                      ", it must be bool");
  require_same_dtype(c, "X", "Y");
  require_same_shape(c, "X", "Y");
  require_same_shape(c, "Condition", "X");
}

}  // namespace

void define_where(OpTable& ops) {
  ops.add(OpSchema("where")
              .doc("Out[i] = X[i] where Condition[i], Y[i] elsewhere.")
              .input("Condition", "bool, any shape")
              .input("X", "shape of Condition")
              .input("Y", "shape of Condition, element type of X")
              .output("Out", "like X")
              .infer([](InferContext& c) {
                where_require_alike(c);
                c.set_output("Out", c.input("X").dtype, c.shape("X"));
              })
              .gradient("where_grad", {"Condition", "X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .dtype_from_input("X")
              .on_gpu()
              .kernels<WhereKernel, float, double, int32_t, int64_t>());
  ops.add(
      linear_gradient_of(ops, "where")
          .doc("X@GRAD = Out@GRAD where Condition is true, else 0; Y@GRAD = Out@GRAD where Condition is false, else 0.")
          .shape_only("X")
          .shape_only("Y")
          .dtype_from_input("Out@GRAD")
          .kernels<WhereGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
