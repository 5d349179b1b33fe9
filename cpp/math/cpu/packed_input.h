// packed, PackedInput: an input of a kernel in the order in which the kernel reads it.
#pragma once

#include "core/kernel.h"
#include "core/packed_store.h"

namespace paddle_mini {

// The copy, made by pack(T*) if values of the scope may have changed since it was made.
template <class T, class F>
const T* packed(PackedCopy& copy, const KernelContext& context, F pack) {
  T* data = static_cast<T*>(copy.memory.get());
  const uint64_t version = context.values_version;
  if (version != 0 && copy.version.load(std::memory_order_acquire) == version) return data;
  std::lock_guard<std::mutex> lock(copy.mutex);
  if (version == 0 || copy.version.load(std::memory_order_relaxed) != version) {
    copy.version.store(0, std::memory_order_relaxed);  // should pack throw
    pack(data);
    copy.version.store(version, std::memory_order_release);
  }
  return data;
}

// A copy that is kept between runs if the program never writes the input, or else made in each run.
template <class T>
class PackedInput {
 public:
  // `count` elements; `order` names the copy's order, which depends on `sizes`. port nullptr: made in each run.
  PackedInput(KernelInit& init, const char* port, const char* order, std::vector<int64_t> sizes, int64_t count,
              size_t i = 0)
      : PackedInput(init, kept(init, port, order, std::move(sizes), count, i), count) {}
  PackedInput(KernelInit& init, std::shared_ptr<PackedCopy> kept, int64_t count)
      : kept_(std::move(kept)), scratch_(init, kept_ ? 0 : count) {}

  // nullptr if the program writes the input.
  static std::shared_ptr<PackedCopy> kept(KernelInit& init, const char* port, const char* order,
                                          std::vector<int64_t> sizes, int64_t count, size_t i = 0) {
    return port ? init.packed(port, order, std::move(sizes), static_cast<size_t>(count) * sizeof(T), i) : nullptr;
  }

  T* scratch() const { return scratch_.data(); }  // the memory for a copy in each run

  template <class F>
  const T* get(const KernelContext& context, F pack) const {
    if (kept_) return packed<T>(*kept_, context, pack);
    pack(scratch_.data());
    return scratch_.data();
  }

 private:
  std::shared_ptr<PackedCopy> kept_;
  Scratch<T> scratch_;
};

}  // namespace paddle_mini
