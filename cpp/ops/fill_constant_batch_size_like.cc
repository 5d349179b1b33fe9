// fill_constant_batch_size_like: Out = a tensor filled with value; one dimension of its shape is taken from Input
#include "math/fill.h"
#include "ops/family/batch_size_like.h"

namespace paddle_mini {
namespace {

template <class T>
struct FillBatchKernel : FillKernel<T> {
  explicit FillBatchKernel(KernelInit& init) : FillKernel<T>(init, value_to_fill<T>(init)) {}
};

}  // namespace

void define_fill_constant_batch_size_like(OpTable& ops) {
  ops.add(batch_size_like("fill_constant_batch_size_like")
              .doc("Out = value in every element; one dimension of `shape` is replaced by one of Input's.")
              .attr("value", 0.0f, "the value")
              .attr("str_value", "", "the value in decimal, \"inf\" or \"nan\"; replaces `value` unless empty")
              .attr("force_cpu", false, "whether Out is on the CPU regardless of the place")
              .no_gradient("the values of Input are not read")
              .kernels<FillBatchKernel, float, double, bool, int32_t, int64_t>());
}

}  // namespace paddle_mini
