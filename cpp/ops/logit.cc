// logit: Out = log(X / (1 - X))
#include <limits>

#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct Logit {
  float eps;

  explicit Logit(const KernelInit& init) : eps(init.attr<float>("eps")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    V low = V(eps), high = V(1) - low;
    V inside = select(x < low, low, select(x > high, high, x));
    V out = log(inside / (V(1) - inside));
    if (eps > 0) return out;
    return select(x < V(0), nan<V>(), select(x > V(1), nan<V>(), out));
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    V low = V(eps), high = V(1) - low, outside = eps > 0 ? V(0) : nan<V>();
    return select(x < low, outside, select(x > high, outside, gradient / (x * (V(1) - x))));
  }

 private:
  template <class V>
  PM_HD static V nan() {
    return V(std::numeric_limits<number_of<V>>::quiet_NaN());
  }
};

}  // namespace

void define_logit(OpTable& ops) {
  add_unary<Logit, Saved::X>(ops,
                             unary("logit")
                                 .doc("Out = log(X / (1 - X)), element by element, after X has been clipped to [eps, 1 "
                                      "- eps]; with eps 0 it is "
                                      "NaN outside [0, 1].")
                                 .attr("eps", 1e-6f, "how far X is kept from 0 and 1", between(0, 0.5)),
                             "X@GRAD = Out@GRAD / (X (1 - X)); outside [eps, 1 - eps] 0, or NaN with eps 0.");
}

}  // namespace paddle_mini
