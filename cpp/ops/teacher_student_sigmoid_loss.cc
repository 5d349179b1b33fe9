// teacher_student_sigmoid_loss: the sum of sigmoid losses of a click (teacher) and a score (student) in one label
#include "ops/family/pair_loss.h"

namespace paddle_mini {
namespace {

struct TeacherStudent : PairLoss {
  static constexpr PairPorts ports{"X", "Label", "Y"};
  float high, low;

  explicit TeacherStudent(const KernelInit& init)
      : PairLoss(init), high(init.attr<float>("soft_max_up_bound")), low(init.attr<float>("soft_max_lower_bound")) {}

  // With s = log(1 + exp(x)): the loss is s without a click and s - x with one; a score adds s - x * score.
  template <class V>
  PM_HD V operator()(V x, V label) const {
    V zero(0), one(1), click = maximum(x, zero) + log(one + exp(-abs(x)));
    V with_score = click + click - x * label;  // label: the score in [0, 1), or 1 + the score with a click
    return select(label < zero, select(label < -one, click, click - x), with_score);
  }
  template <class V>
  PM_HD V operator()(V x, V label, V gradient) const {
    V zero(0), one(1), two(2), top{number_of<V>(high)}, bottom{number_of<V>(low)};
    V sigmoid = one / (one + exp(-x));
    V slope = select(label < zero, select(label < -one, sigmoid, sigmoid - one), two * sigmoid - label);
    return select(x >= top, zero, select(x <= bottom, zero, slope * gradient));
  }
};

}  // namespace

void define_teacher_student_sigmoid_loss(OpTable& ops) {
  add_pair_loss<TeacherStudent>(
      ops,
      pair_loss("teacher_student_sigmoid_loss", TeacherStudent::ports)
          .attr("soft_max_up_bound", 15.0f, "from this value of X on, the gradient is 0")
          .attr("soft_max_lower_bound", -15.0f, "up to this value of X, the gradient is 0")
          .doc("With s = log(1 + exp(X)): Label below -1: no click and no score, Y = s; below 0: a click, Y = s - "
               "X; below 1: no click, and Label is the score, Y = 2 s - X Label; else a click, and Label - 1 is "
               "the score, Y = 2 s - X - X (Label - 1)."),
      "X@GRAD = Y@GRAD times the derivative, 0 where X is not between the bounds.");
}

}  // namespace paddle_mini
