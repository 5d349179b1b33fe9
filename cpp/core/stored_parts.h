// StoredParts: each part of a kernel's output is passed on, as soon as it is stored, to the operators that continue it.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

// The effect of an elementwise kernel on each element of an array in place, so that the kernel before it can compute it in
// registers, before it stores the element.
struct RegisterStep {
  enum class Kind { None, AddByIndex, AddByElement, Clamp };
  Kind kind = Kind::None;
  const void* values = nullptr;  // element i adds values[i / inner % count], or values[i]
  int64_t inner = 1, count = 1;
  double lower = 0, upper = 0;  // min(max(element, lower), upper)
};

// An elementwise kernel that may be such a step.
class RegisterStepKernel {
 public:
  virtual ~RegisterStepKernel() = default;
  // Its effect on `array` in this run; Kind::None if it has another form, or is not in place.
  virtual RegisterStep register_step(const void* array) const = 0;
};

// Kernels that run on each part of the running kernel's output as soon as it is stored, while it is in cache
// (executor/epilogues.h).
class Epilogue {
 public:
  virtual ~Epilogue() = default;
  virtual const void* output() const = 0;  // the running kernel's
  virtual size_t count() const = 0;  // how many kernels there are
  virtual RegisterStep step(size_t kernel) const = 0;
  // The bytes at `part` are final, and the kernels before `first` have been applied to them. Threads may call it at the same
  // time, for different parts.
  virtual void run(const void* part, size_t bytes, size_t first) const = 0;
};

// A kernel that stores_parts() adds each part of its output once, when it is complete. Adjacent parts are passed on
// together, while they are in the first-level cache.
template <class T>
class StoredParts {
 public:
  // applied: how many kernels of the epilogue were applied to the parts before they were stored.
  explicit StoredParts(const KernelContext& context, size_t applied = 0)
      : epilogue_(context.epilogue && applied < context.epilogue->count() ? context.epilogue : nullptr),
        applied_(applied) {}
  StoredParts(const StoredParts&) = delete;
  StoredParts& operator=(const StoredParts&) = delete;
  ~StoredParts() { pass_on(); }

  bool are_wanted() const { return epilogue_ != nullptr; }
  void add(const T* part, int64_t count) {
    constexpr int64_t kEnough = (1 << 14) / sizeof(T);
    if (!epilogue_) return;
    if (part != begin_ + count_) {
      pass_on();
      begin_ = part;
    }
    count_ += count;
    if (count_ >= kEnough) pass_on();
  }

 private:
  void pass_on() {
    if (count_) epilogue_->run(begin_, static_cast<size_t>(count_) * sizeof(T), applied_);
    begin_ += count_;
    count_ = 0;
  }

  const Epilogue* epilogue_;
  size_t applied_;
  const T* begin_ = nullptr;
  int64_t count_ = 0;
};

}  // namespace paddle_mini
