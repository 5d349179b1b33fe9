// Ids and labels in kernels on a GPU, where what is out of range is refused.
#pragma once

#include "math/gpu/report_fault.h"

namespace paddle_mini {

// Whole numbers that a tensor holds as int32 or int64.
struct Ids {
  const void* data = nullptr;
  bool wide = false;

  Ids() = default;
  Ids(const IndexIn& in) : data(in.data()), wide(in.wide()) {}
  PM_DEVICE int64_t operator[](int64_t i) const {
    return wide ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
  }
};

// Raises for the step that is running.
struct Refusal {
  Fault* fault;
  unsigned long long step;

  explicit Refusal(const KernelContext& context) : fault(context.fault), step(context.step) {}
  PM_DEVICE void operator()(int64_t value, int64_t at) const { report_fault(fault, step, value, at); }
};

// Ids below `height`.
struct IdsBelow {
  Ids ids;
  int64_t height;
  Refusal refuse;

  IdsBelow(const KernelContext& context, const Ids& ids, int64_t height) : ids(ids), height(height), refuse(context) {}
  // -1: it is out of range, which is refused.
  PM_DEVICE int64_t operator[](int64_t i) const {
    int64_t id = ids[i];
    if (id >= 0 && id < height) return id;
    refuse(id, i);
    return -1;
  }
};

// Labels that name one class for each row.
struct LabelsBelow {
  Ids ids;
  int64_t classes, ignored;
  Refusal refuse;

  LabelsBelow(const KernelContext& context, const Ids& ids, int64_t classes, int64_t ignored)
      : ids(ids), classes(classes), ignored(ignored), refuse(context) {}
  // -1: the row counts nothing, as its label is ignored, or out of range, which is refused.
  PM_DEVICE int64_t operator[](int64_t row) const {
    if (!ids.data) return -1;  // where labels may be of another sort
    int64_t id = ids[row];
    if (id == ignored) return -1;
    if (id >= 0 && id < classes) return id;
    refuse(id, row);
    return -1;
  }
};

}  // namespace paddle_mini
