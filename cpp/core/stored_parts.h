// StoredParts: each part of a kernel's output is passed on, as soon as it is stored, to the operators that continue it.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

// Kernels that run on each part of the running kernel's output as soon as it is stored, while it is in cache
// (executor/epilogues.h).
class Epilogue {
 public:
  virtual ~Epilogue() = default;
  // The bytes at `part` are final. Threads may call it at the same time, for different parts.
  virtual void run(const void* part, size_t bytes) const = 0;
};

// A kernel that stores_parts() adds each part of its output once, when it is complete. Adjacent parts are passed on
// together, while they are in the first-level cache.
template <class T>
class StoredParts {
 public:
  explicit StoredParts(const KernelContext& context) : epilogue_(context.epilogue) {}
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
    if (count_) epilogue_->run(begin_, static_cast<size_t>(count_) * sizeof(T));
    begin_ += count_;
    count_ = 0;
  }

  const Epilogue* epilogue_;
  const T* begin_ = nullptr;
  int64_t count_ = 0;
};

}  // namespace paddle_mini
