// relu: Out = max(X, 0)
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Relu {
  template <class V>
  PM_HD V operator()(V x) const {
    return maximum(x, V(0));
  }

  // X > 0 exactly where Out > 0, so the gradient needs only the output.
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    return select(out > V(0), gradient, V(0));
  }
};

}  // namespace

void define_relu(OpTable& ops) {
  add_unary<Relu, Saved::Out>(ops, unary("relu").doc("Out = max(X, 0), element by element; NaN stays NaN."),
                              "X@GRAD = Out@GRAD where Out > 0, else 0.");
}

}  // namespace paddle_mini
