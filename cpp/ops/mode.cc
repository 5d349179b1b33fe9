// mode: Out = the most frequent element along an axis, and its position
#include "ops/family/line_choice.h"

namespace paddle_mini {
namespace {

struct MostFrequent {
  explicit MostFrequent(const KernelInit&) {}

  // Equal elements are adjacent once sorted; each NaN counts on its own.
  template <class Order>
  int64_t choose(Order before, int64_t* positions, int64_t length) const {
    std::sort(positions, positions + length, before);
    int64_t found = positions[0], most = 0, count = 0;
    for (int64_t i = 0; i < length; ++i) {
      bool same = i > 0 && before.line[positions[i - 1] * before.step] == before.line[positions[i] * before.step];
      count = same ? count + 1 : 1;
      if (count > most) most = count, found = positions[i];
    }
    return found;
  }
};

}  // namespace

void define_mode(OpTable& ops) {
  ops.add(line_choice("mode")
              .doc("Out = the most frequent element along the axis, the smallest one of several, and Indices = the "
                   "position of its last occurrence.")
              .infer([](InferContext& c) {
                Shape out = chosen_shape(c);
                c.set_output("Out", c.input("X").dtype, out);
                c.set_output("Indices", DType::Int64, out);
              })
              .kernels<LineChoiceKernel<MostFrequent>::For, float, double, int32_t, int64_t>());
  ops.add(line_choice_gradient(ops, "mode"));
}

}  // namespace paddle_mini
