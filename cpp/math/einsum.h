// Sums of products over labelled axes, written as einsum equations.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/op_table.h"
#include "math/gemm.h"
#include "math/transpose.h"
namespace paddle_mini {

// A tensor with a label for each axis. Axes with the same label share an index; axes of size 1 are broadcast.
struct LabelledShape {
  std::vector<int> labels;
  Shape shape;

  int axis_of(int label) const;  // the first such axis; -1: none
};

// An equation such as "bij,bjk->bik", "ii", "...i,i->...". Without an arrow, the result has the axes of "..." and then,
// in alphabetical order, the labels that occur once.
struct Equation {
  std::vector<LabelledShape> operands;
  LabelledShape out;

  Equation(const std::string& text, const std::vector<Shape>& shapes);
};

// to = the product of the operands, summed over all labels that `to` does not have; one loop for each label.
class LabelledLoops {
 public:
  LabelledLoops(const std::vector<LabelledShape>& operands, const LabelledShape& to);

  template <class T>
  void run(KernelContext& context, const std::vector<const T*>& in, T* to);

 private:
  struct Loop {
    int64_t size, to_step;
    std::vector<int64_t> steps;  // by operand
  };

  // On a CPU.
  template <class F>
  void each(const Loop& loop, F f);
  template <class T>
  void walk(size_t depth, const std::vector<const T*>& in, T* to);
  template <class T>
  double sum(size_t depth, const std::vector<const T*>& in);

  std::vector<Loop> loops_;  // loops over the result's labels come first
  size_t kept_ = 0;
  std::vector<int64_t> at_;  // current offset in each operand
  int64_t to_numel_;
  bool nothing_ = false;
};

// Batched matrix product: two operands whose axes can be ordered as [stack, m, k] and [stack, k, n].
struct MatrixForm {
  int64_t stack = 1, m = 1, n = 1, k = 1;
  std::vector<int> x_order, y_order, out_order;
  Shape product;  // [stack..., m..., n...]
};

// Empty if an axis is broadcast, occurs in one operand only and is summed, or occurs twice in one operand, or if the
// matrices are too small to gain from it.
std::optional<MatrixForm> matrix_form(const std::vector<LabelledShape>& operands, const LabelledShape& to);

template <class T>
class Contraction {
 public:
  Contraction(KernelInit& init, const std::vector<LabelledShape>& operands, const LabelledShape& to)
      : form_(matrix_form(operands, to)) {
    if (!form_) {
      loops_.emplace(operands, to);
      return;
    }
    moves_.reserve(3);
    moves_.emplace_back(operands[0].shape, form_->x_order, sizeof(T));
    moves_.emplace_back(operands[1].shape, form_->y_order, sizeof(T));
    moves_.emplace_back(form_->product, form_->out_order, sizeof(T));
    for (int64_t count : {operands[0].shape.numel(), operands[1].shape.numel(), form_->product.numel()}) {
      ordered_.emplace_back(init, count);
    }
    gemm_ = {{false, false, form_->m, form_->n, form_->k}, init.threads()};
  }

  void run(KernelContext& context, const std::vector<const T*>& in, T* to) {
    if (loops_) {
      loops_->run(context, in, to);
      return;
    }
    for (size_t i = 0; i < 2; ++i) moves_[i].run(context, in[i], ordered_[i].data());
    int64_t m = form_->m, n = form_->n, k = form_->k;
    gemm_.run_many(context, form_->stack, ordered_[0].data(), m * k, ordered_[1].data(), k * n, ordered_[2].data(),
                   m * n);
    moves_[2].run(context, ordered_[2].data(), to);
  }

 private:
  std::optional<MatrixForm> form_;
  std::optional<LabelledLoops> loops_;
  std::vector<Transpose> moves_;  // for x, y and the result
  std::vector<Scratch<T>> ordered_;
  Gemm<T> gemm_;
};

}  // namespace paddle_mini

#include PM_LAUNCHERS(einsum)
