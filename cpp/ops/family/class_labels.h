// Labels that name one class for each row: checked before anything is written.
#pragma once

#include "core/kernel.h"

#ifdef PM_GPU
#include "ops/family/class_labels_gpu.h"
#endif

namespace paddle_mini {

[[noreturn]] inline void refuse_class_label(int64_t id, int64_t row, int64_t classes, int64_t ignored) {
  fail<OpError>("label ", id, " in row ", row, " is out of range: X has ", classes,
                " classes, so labels run from 0 to ", classes - 1, ", or ignore_index ", ignored);
}

#ifndef PM_GPU
// Refuses a label that is neither a class of X nor the one that is ignored.
inline void check_class_labels(const IndexIn& label, int64_t classes, int64_t ignored) {
  for (int64_t i = 0, n = label.numel(); i < n; ++i) {
    int64_t id = label[i];
    if (id != ignored && (id < 0 || id >= classes)) refuse_class_label(id, i, classes, ignored);
  }
}
#endif

}  // namespace paddle_mini
