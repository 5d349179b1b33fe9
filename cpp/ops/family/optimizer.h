// Shared parts of optimizers: checks of their ports, updates of several parameters, iteration over sparse gradients.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "core/op_schema.h"
#include "math/copy.h"
#include "math/selected_rows.h"

namespace paddle_mini {

using Ports = std::initializer_list<const char*>;

// Param and `like_param` must have the same dtype and shape; `numbers` must have one element of that dtype.
void require_state(const InferContext& c, Ports like_param, Ports numbers);
// Grad must have Param's dtype and shape; if it is selected rows, the shape is that of the whole table.
void require_gradient(const InferContext& c);
// Checks SkipUpdate, if the program has it.
void require_flag(const InferContext& c, const char* port);
// Sets PortOut like Port, for each of the ports that the program has.
void set_updated(InferContext& c, Ports ports);

// An initial schema of an optimizer: Param, Grad, LearningRate and `state`, arrays like Param; array A is updated as
// AOut. The caller adds doc, attributes and kernels, and infer if there are other inputs.
enum class Grads { Dense, Sparse };
enum class Rates { Required, Optional };
OpSchema optimizer(const char* type, const std::vector<const char*>& state, Grads grads = Grads::Dense,
                   Rates rates = Rates::Required);
// The same with two moments and the powers of their betas.
OpSchema moments_optimizer(const char* type, Grads grads = Grads::Dense);
// The same with adam's betas and epsilon, which may also be tensors.
OpSchema adam_optimizer(const char* type, Grads grads = Grads::Dense);
// An optimizer of several parameters; its infer calls infer_several.
OpSchema merged_optimizer(const char* type, const std::vector<const char*>& state);

// Each output of a list is like the corresponding input and may be the same variable; all have the same dtype.
void infer_each(InferContext& c, const char* input, const char* output);
// The checks above for operators that update several parameters: each port must have as many variables as Param, and
// LearningRate one, or as many.
void infer_several(InferContext& c, Ports like_param, Ports numbers);

template <class T>
std::vector<Out<T>> out_list(const KernelInit& init, const char* port) {
  std::vector<Out<T>> list;
  for (size_t i = 0; i < init.output_count(port); ++i) list.emplace_back(init, port, i);
  return list;
}

template <class T>
void copy_part(KernelContext& context, const In<T>& from, const Out<T>& to, int64_t at, int64_t count) {
  if (from.data() != to.data()) copy_n(context, from.data() + at, count, to.data() + at);
}
template <class T>
void copy_all(KernelContext& context, const In<T>& from, const Out<T>& to) {
  copy_part(context, from, to, 0, from.numel());
}

// A gradient that may be selected rows. Repeated rows are merged into their sum.
template <class T>
class SparseGradient {
 public:
  SparseGradient(KernelInit& init, const In<T>& param, const In<T>& grad)
      : grad_(grad), height_(param.shape().rank() ? param.shape()[0] : 1),
        width_(param.shape().rank() ? param.shape().numel(1, param.shape().rank()) : 1),
        merge_(grad.is_rows() ? grad.shape()[0] : 0), merged_(init, grad.is_rows() ? grad.numel() : 0), lists_(1) {}

  // Covers all elements, on several threads: calls step(at, count, gradient) for those with a gradient, which are all if it is
  // dense, and idle(at, count) for the others.
  template <class Step, class Idle>
  void for_each_row(KernelContext& context, Step step, Idle idle) {
    if (!grad_.is_rows()) return step(int64_t{0}, grad_.numel(), grad_.data());
    lists_[0] = {&grad_.variable().rows, grad_.data()};
    merge_.run(context, lists_, width_, merged_.data());
    merge_.each_row(
        context, height_, bytes_cost(6.0 * sizeof(T)) * static_cast<double>(width_),
        [&](int64_t row, int64_t i) { step(row * width_, width_, static_cast<const T*>(merged_.data()) + i * width_); },
        [&](int64_t row, int64_t count) { idle(row * width_, count * width_); });
  }

 private:
  In<T> grad_;
  int64_t height_, width_;
  RowMerge merge_;
  Scratch<T> merged_;
  std::vector<RowValues<T>> lists_;
};

}  // namespace paddle_mini
