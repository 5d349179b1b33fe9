// The axis and the labels of softmax_with_cross_entropy.
#pragma once

#include <optional>

#include "core/op_table.h"
#include "math/axis_lines.h"

namespace paddle_mini {

[[noreturn]] inline void refuse_softmax_label(int64_t id, int64_t row, int64_t classes, int64_t ignored) {
  fail<OpError>("label ", id, " in row ", row, " is out of range: Logits has ", classes,
                " classes, so a label must be from 0 to ", classes - 1, ", or ignore_index ", ignored);
}

// Hard labels (one class per row) or soft labels (a weight for every class).
template <class T>
struct SoftmaxLabels {
  std::optional<IndexIn> hard;
  std::optional<In<T>> soft;
  int64_t ignored;

  explicit SoftmaxLabels(const KernelInit& init) : ignored(init.attr<int32_t>("ignore_index")) {
    if (init.attr<bool>("soft_label")) soft.emplace(init, "Label");
    else hard.emplace(init, "Label");
  }

  const T* soft_data() const { return soft ? soft->data() : nullptr; }
  // CPU only:
  void check(int64_t classes) const;
};

}  // namespace paddle_mini
