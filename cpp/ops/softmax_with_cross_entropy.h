// The axis and the labels of softmax_with_cross_entropy.
#pragma once

#include <optional>

#include "core/op_table.h"

namespace paddle_mini {

// Logits are viewed as [outer, classes, inner] around the axis; labels and losses as [outer, 1, inner].
struct ClassAxis {
  int64_t outer, classes, inner;

  ClassAxis(const Shape& logits, int32_t axis) {
    int at = normal_axis(axis, logits.rank(), "axis");
    outer = logits.numel(0, at), classes = logits[at], inner = logits.numel(at + 1, logits.rank());
  }
};

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
