// Class labels, one for each row, which are checked before anything is written.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

[[noreturn]] inline void refuse_class_label(int64_t id, int64_t row, int64_t classes, int64_t ignored) {
  fail<OpError>("label ", id, " in row ", row, " is out of range: X has ", classes,
                " classes, so a label must be from 0 to ", classes - 1, ", or ignore_index ", ignored);
}

}  // namespace paddle_mini

#include PM_FAMILY(class_labels)
