// hard_shrink: Out = X where |X| > threshold, else 0
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct HardShrink {
  float threshold;

  explicit HardShrink(const KernelInit& init) : threshold(init.attr<float>("threshold")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    return select(abs(x) <= V(threshold), V(0), x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return select(abs(x) <= V(threshold), V(0), gradient);
  }
};

}  // namespace

void define_hard_shrink(OpTable& ops) {
  add_unary<HardShrink, Saved::X>(ops,
                                  unary("hard_shrink")
                                      .doc("Out = X where |X| > threshold, else 0, element by element.")
                                      .attr("threshold", 0.5f, "values in [-threshold, threshold] become 0"),
                                  "X@GRAD = Out@GRAD where |X| > threshold, else 0.");
}

}  // namespace paddle_mini
