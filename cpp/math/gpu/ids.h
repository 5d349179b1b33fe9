// Ids and labels in GPU kernels, with validation of their range.
#pragma once

#include "math/gpu/report_fault.h"

namespace paddle_mini {

// A tensor of int32 or int64.
struct Ids {
  const void* data = nullptr;
  bool wide = false;

  Ids() = default;
  Ids(const IndexIn& in) : data(in.data()), wide(in.wide()) {}
  PM_DEVICE int64_t operator[](int64_t i) const {
    return wide ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
  }
};

// Reports an error for the running step.
struct Refusal {
  Fault* fault;
  unsigned long long step;

  explicit Refusal(const KernelContext& context) : fault(context.fault), step(context.step) {}
  PM_DEVICE void operator()(int64_t value, int64_t at) const { report_fault(fault, step, value, at); }
};

// Ids in [0, height).
struct IdsBelow {
  Ids ids;
  int64_t height;
  Refusal refuse;

  IdsBelow(const KernelContext& context, const Ids& ids, int64_t height) : ids(ids), height(height), refuse(context) {}
  // Returns -1 and reports an error if it is out of range.
  PM_DEVICE int64_t operator[](int64_t i) const {
    int64_t id = ids[i];
    if (id >= 0 && id < height) return id;
    refuse(id, i);
    return -1;
  }
};

// Class labels, one for each row.
struct LabelsBelow {
  Ids ids;
  int64_t classes, ignored;
  Refusal refuse;

  LabelsBelow(const KernelContext& context, const Ids& ids, int64_t classes, int64_t ignored)
      : ids(ids), classes(classes), ignored(ignored), refuse(context) {}
  // Returns -1 for a row without contribution: its label is `ignored`, or out of range, which is reported.
  PM_DEVICE int64_t operator[](int64_t row) const {
    if (!ids.data) return -1;  // the caller uses labels of another form
    int64_t id = ids[row];
    if (id == ignored) return -1;
    if (id >= 0 && id < classes) return id;
    refuse(id, row);
    return -1;
  }
};

}  // namespace paddle_mini
