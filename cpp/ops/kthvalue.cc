// kthvalue: Out = the k-th smallest element along an axis, and its position
#include "ops/family/line_choice.h"

namespace paddle_mini {
namespace {

struct KthSmallest {
  int64_t k;

  explicit KthSmallest(const KernelInit& init) : k(init.attr<int32_t>("k")) {}
  template <class Order>
  int64_t choose(Order before, int64_t* positions, int64_t length) const {
    std::nth_element(positions, positions + k - 1, positions + length, before);
    return positions[k - 1];
  }
};

}  // namespace

void define_kthvalue(OpTable& ops) {
  ops.add(line_choice("kthvalue")
              .doc("Out = the k-th smallest element along the axis, and Indices = its position. NaN counts as larger "
                   "than every number; of equal elements those in front count as smaller.")
              .attr("k", 1, "1 for the smallest element", at_least(1))
              .infer([](InferContext& c) {
                Shape out = chosen_shape(c);
                const Shape& x = c.shape("X");
                int64_t k = c.attr<int32_t>("k");
                int64_t length = x.rank() ? x[normal_axis(c.attr<int32_t>("axis"), x.rank(), "axis")] : 1;
                require<ShapeError>(length < 0 || k <= length, "k is ", k, ", but X has ", length,
                                    " elements along the axis");
                c.set_output("Out", c.input("X").dtype, out);
                c.set_output("Indices", DType::Int64, out);
              })
              .kernels<LineChoiceKernel<KthSmallest>::For, float, double, int32_t, int64_t>());
  ops.add(line_choice_gradient(ops, "kthvalue"));
}

}  // namespace paddle_mini
