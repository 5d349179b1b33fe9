// reduce_min: Out = the smallest elements of X over some axes
#include "math/extremes.h"

namespace paddle_mini {
namespace {

struct Smallest {
  template <class T>
  static T first() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  template <class T>
  T operator()(T a, T b) const { return minimum(a, b); }
};


}  // namespace

void define_reduce_min(OpTable& ops) {
  ops.add(fold_reduction("reduce_min", "reduce_min_grad")
              .doc("The smallest element of X over the axes in `dim`; NaN if there is one,"
                   " and the highest number if there is none.")
              .kernels<FoldKernel<Smallest>::For, float, double, int32_t, int64_t>());
  ops.add(fold_gradient("reduce_min_grad")
              .doc("X@GRAD = Out@GRAD at each element that equals Out, also at several; 0 elsewhere.")
              .kernels<FoldGradKernel<ToExtreme>::For, float, double>());
}

}  // namespace paddle_mini
