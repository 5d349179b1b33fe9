// Class labels on a CPU.
#pragma once

namespace paddle_mini {

constexpr double kLabelCost = 10;  // nanoseconds for one label: a logarithm or a quotient, after a miss of the caches

// Throws if a label is neither a class of X nor the ignored one.
inline void check_class_labels(const IndexIn& label, int64_t classes, int64_t ignored) {
  for (int64_t i = 0, n = label.numel(); i < n; ++i) {
    int64_t id = label[i];
    if (id != ignored && (id < 0 || id >= classes)) refuse_class_label(id, i, classes, ignored);
  }
}

}  // namespace paddle_mini
