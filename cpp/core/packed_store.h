// PackedStore: copies of a scope's values in the order in which kernels read them, such as the filters of a convolution in
// blocks. All plans and executors of the scope share them; a copy lives as long as a kernel that uses it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace paddle_mini {

struct Variable;

struct PackedCopy {
  std::mutex mutex;  // held while the copy is made
  std::atomic<uint64_t> version{0};  // Scope::values_version when it was made; 0: it was not
  std::shared_ptr<void> memory;
};

class PackedStore {
 public:
  // A variable, the name of the copy's order, and the sizes and the element type on which that depends.
  using Key = std::tuple<const Variable*, std::string, std::vector<int64_t>>;

  // The copy with this key, or a new one of `bytes`; nullptr if there is no memory for it.
  std::shared_ptr<PackedCopy> at(const Key& key, size_t bytes);

 private:
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<PackedCopy>> copies_;
};

}  // namespace paddle_mini
