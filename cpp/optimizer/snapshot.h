// Snapshot: the state of an optimizer at one moment, or what has changed in it, read in pieces while updates continue.
#pragma once

#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/array.h"
#include "optimizer/checksum.h"
#include "optimizer/row_set.h"

namespace paddle_mini {

// Copy on write by pages: before an update changes an array it calls keep(), which copies the pages that are not read yet. So
// the copies are never more than the pages that changed while the snapshot was read, and an update copies only what it changes.
class Snapshot {
 public:
  Snapshot() = default;
  explicit Snapshot(RowSet rows) : rows_(std::move(rows)) {}  // reads only these rows of each array
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // The interface of StateWriter: numbers are copied, arrays are referred to.
  template <class V>
  void write(const V& value) {
    append(&value, sizeof value);
  }
  template <class T>
  void write_all(const Array<T>& array) {
    append_array(array.memory(), array.data(), static_cast<size_t>(array.size()) * sizeof(T));
  }
  // The end of the state: its checksum is computed while it is read.
  void finish();

  size_t size() const { return size_; }
  // Reads the next bytes of the state. Throws ProgramError if there are fewer. One thread reads; others update.
  void read(void* to, size_t size);

  // Keeps elements `first` to `first + count` of an array as they are. Throws std::bad_alloc; then nothing needs to be undone.
  // keep_ranges: `ranges` calls its argument with first and count for each range.
  template <class T, class F>
  void keep_ranges(const Array<T>& array, F ranges) {
    std::lock_guard<std::mutex> lock(mutex_);
    Part* part = part_of(array.data());
    if (!part) return;  // the array is empty, or newer than the snapshot, or it was read
    ranges([&](int64_t first, int64_t count) {
      keep(*part, static_cast<size_t>(first) * sizeof(T), static_cast<size_t>(count) * sizeof(T));
    });
  }

 private:
  // memory: nullptr for numbers, which begin at `data` in numbers_. copies: by page; nullptr until the first one.
  struct Part {
    std::shared_ptr<void> memory;
    const char* data;
    size_t begin, bytes;  // in the state
    size_t array_bytes;
    size_t row_bytes = 0;  // 0: all of the array is read
    size_t done = 0;       // bytes of the array before which nothing is left to read
    char** copies = nullptr;
    size_t pages() const { return (array_bytes + kPage - 1) / kPage; }
  };
  static constexpr size_t kPage = 4096;
  static constexpr size_t kAtOnce = 16 * kPage;  // bytes that are read while updates wait

  void append(const void* from, size_t bytes);
  void append_array(std::shared_ptr<void> memory, const void* data, size_t bytes);
  Part* part_of(const void* data);
  void keep(Part& part, size_t begin, size_t bytes);
  size_t read_some(char* to, size_t most);
  void read_rows(Part& part, char* to, size_t bytes);
  void read_part(Part& part, size_t at, char* to, size_t bytes);

  const std::optional<RowSet> rows_;
  std::mutex mutex_;
  std::string numbers_;
  std::vector<Part> parts_;
  size_t size_ = 0, read_ = 0, first_part_ = 0;  // first_part_: the one that is read next
  Checksum sum_;
};

}  // namespace paddle_mini
