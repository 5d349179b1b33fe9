// LastSteps: the first kernels of an epilogue, applied to sums in registers before they are stored.
#pragma once

#include "core/stored_parts.h"
#include "math/map.h"

#include <cmath>

namespace paddle_mini {

// A bias, then a sum with an array of as many elements, then limits: each value has the bits that the kernels would give it.
// Element i of the output belongs to row i / inner % rows, which has a bias.
template <class T>
class LastSteps {
 public:
  // by_element: whether a sum with an array may be one of the steps.
  LastSteps(const KernelContext& context, int64_t inner, int64_t rows, bool by_element = true) {
    using Kind = RegisterStep::Kind;
    if (!context.epilogue) return;
    output_ = static_cast<const T*>(context.epilogue->output());
    for (; taken_ < context.epilogue->count(); ++taken_) {
      const RegisterStep step = context.epilogue->step(taken_);
      if (step.kind == Kind::AddByIndex && !taken_ && step.inner == inner && step.count == rows) {
        bias_ = static_cast<const T*>(step.values);
      } else if (step.kind == Kind::AddByElement && by_element && !addends_ && !clamps_) {
        addends_ = static_cast<const T*>(step.values);
      } else if (step.kind == Kind::Clamp && !clamps_) {
        clamps_ = true;
        lower_ = static_cast<T>(step.lower), upper_ = static_cast<T>(step.upper);
        has_upper_ = !std::isinf(step.upper);
      } else {
        return;
      }
    }
  }

  // How many kernels StoredParts must leave out.
  size_t taken() const { return taken_; }

  // The values [count][registers] of rows that are row_step apart will be stored at to[i * step + n * lanes]. load(from, n)
  // loads as many elements as are stored of register n.
  template <int count, int registers, class Load>
  void apply(Vec<T> (&values)[count][registers], int64_t row, int64_t row_step, const T* to, int64_t step,
             Load load) const {
    if (bias_) each(values, [&](Vec<T> v, int i, int) { return v + Vec<T>(bias_[row + i * row_step]); });
    if (addends_) {
      const T* at = addends_ + (to - output_);
      each(values, [&](Vec<T> v, int i, int n) { return v + load(at + i * step + n * Vec<T>::size, n); });
    }
    if (clamps_) each(values, [&](Vec<T> v, int, int) { return maximum(v, Vec<T>(lower_)); });
    if (has_upper_) each(values, [&](Vec<T> v, int, int) { return minimum(v, Vec<T>(upper_)); });
  }

 private:
  template <int count, int registers, class F>
  static void each(Vec<T> (&values)[count][registers], F f) {
#pragma GCC unroll 16
    for (int i = 0; i < count; ++i) {
#pragma GCC unroll 8
      for (int n = 0; n < registers; ++n) values[i][n] = f(values[i][n], i, n);
    }
  }

  size_t taken_ = 0;
  const T *output_ = nullptr, *bias_ = nullptr, *addends_ = nullptr;
  bool clamps_ = false, has_upper_ = false;
  T lower_ = T(0), upper_ = T(0);
};

}  // namespace paddle_mini
