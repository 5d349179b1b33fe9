// softshrink: Out = X - lambda where X > lambda, X + lambda where X < -lambda, else 0
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

// NaN compares false with both bounds and stays NaN.
struct Softshrink {
  float distance;

  explicit Softshrink(const KernelInit& init) : distance(init.attr<float>("lambda")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    V kept = select(x == x, V(0), x);
    return select(x > V(distance), x - V(distance), select(x < V(-distance), x + V(distance), kept));
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return select(x > V(distance), gradient, select(x < V(-distance), gradient, V(0)));
  }
};

}  // namespace

void define_softshrink(OpTable& ops) {
  add_unary<Softshrink, Saved::X>(
      ops,
      unary("softshrink")
          .doc("Out = X - lambda where X > lambda, X + lambda where X < -lambda, else 0, element by "
               "element.")
          .attr("lambda", 0.5f, "the distance by which X is moved towards 0"),
      "X@GRAD = Out@GRAD where |X| > lambda, else 0.");
}

}  // namespace paddle_mini
