// shared_values: which memory of a scope's values is also held by readers outside of the scope.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "core/tensor.h"

namespace paddle_mini {

// It knows memory by its address, not by its variable, because values move between variables (Scope::exchange). Many
// variables share one allocation, so the count of its owners does not tell whether a reader is among them.
class SharedValues {
 public:
  // A reference that keeps the memory; all readers of one value have the same. Any thread may call it and drop it.
  std::shared_ptr<const void> share(const Tensor& value);
  // Whether a reader holds the memory. If not, what its last reader did has happened before.
  bool has(const Tensor& value);
  bool empty();

 private:
  void forget_dropped();

  std::mutex mutex_;
  std::unordered_map<const void*, std::weak_ptr<const void>> held_;
  std::atomic<bool> any_{false};
};

}  // namespace paddle_mini
