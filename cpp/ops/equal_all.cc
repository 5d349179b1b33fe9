// equal_all: Out = whether X and Y have one shape and equal elements
#include "ops/family/compare.h"

#ifdef PM_GPU
#include "math/copy.h"
#include "math/for_each_index.h"
#endif

namespace paddle_mini {
namespace {

#ifdef PM_GPU
// Whichever threads find a difference, they write the same.
template <class T>
struct FlagUnequal {
  const T *x, *y;
  bool* equal;
  PM_HD void operator()(int64_t i) const {
    if (equal_or_not(x[i], y[i]) == T(0)) *equal = false;
  }
};
#endif

template <class T>
struct EqualAllKernel : Kernel {
  In<T> x, y;
  Out<bool> out;

  explicit EqualAllKernel(KernelInit& init) : x(init, "X"), y(init, "Y"), out(init, "Out") {}
#ifdef PM_GPU
  void run(Device& device) override {
    bool alike = x.shape() == y.shape();
    fill_n(device, out.data(), 1, alike);
    if (alike) for_each_index(device, x.numel(), FlagUnequal<T>{x.data(), y.data(), out.data()});
  }
#else
  void run(Device&) override {
    bool equal = x.shape() == y.shape();
    for (int64_t i = 0, n = x.numel(); equal && i < n; ++i) equal = equal_or_not(x[i], y[i]) != T(0);
    out[0] = equal;
  }
#endif
};

}  // namespace

void define_equal_all(OpTable& ops) {
  ops.add(OpSpec("equal_all")
              .doc("Out = whether X and Y have the same shape and all their elements are equal; floating point numbers "
                   "less than 1e-8 apart count as equal, NaN as different from all.")
              .input("X", "any shape")
              .input("Y", "any shape, of X's element type")
              .output("Out", "one truth, bool")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_same_dtype(c, "X", "Y");
                c.set_output("Out", DType::Bool, Shape{});
              })
              .no_gradient("truth has no slope")
              .on_gpu()
              .kernels<EqualAllKernel, float, double, int32_t, int64_t, bool>());
}

}  // namespace paddle_mini
