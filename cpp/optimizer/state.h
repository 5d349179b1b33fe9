// Serializes an object's state: raw little-endian values in a fixed order, followed by a checksum.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "core/error.h"
#include "optimizer/array.h"
#include "optimizer/row_set.h"

namespace paddle_mini {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "states are written as the memory of little-endian machines");

class StateWriter {
 public:
  // Writes into memory of known size.
  StateWriter(void* memory, size_t size) : at_(static_cast<char*>(memory)), begin_(at_), end_(at_ + size) {}

  template <class V>
  void write(const V& value) {
    append(&value, sizeof value);
  }
  template <class T>
  void write_all(const Array<T>& array) {
    append(array.data(), static_cast<size_t>(array.size()) * sizeof(T));
  }
  void finish();  // writes the checksum

 private:
  void append(const void* from, size_t bytes);
  char *at_, *begin_, *end_;
};

// Same interface as StateWriter, but only computes the size.
class StateSize {
 public:
  template <class V>
  void write(const V&) {
    bytes_ += sizeof(V);
  }
  template <class T>
  void write_all(const Array<T>& array) {
    bytes_ += static_cast<size_t>(array.size()) * sizeof(T);
  }
  size_t with_checksum() const { return bytes_ + sizeof(uint64_t); }

 private:
  size_t bytes_ = 0;
};

class StateReader {
 public:
  static constexpr bool kChanges = false;
  // Throws ProgramError if the checksum does not match the bytes.
  explicit StateReader(std::string_view bytes);

  template <class V>
  V read() {
    V value;
    take(&value, sizeof value);
    return value;
  }
  // Throws ProgramError, naming `what`, if the value differs.
  template <class V>
  void expect(const V& wanted, const char* what) {
    V found = read<V>();
    require<ProgramError>(found == wanted, "the state has ", what, " ", found, ", it must be ", wanted);
  }
  template <class T>
  void read_all(Array<T>& array) {
    take(array.data(), static_cast<size_t>(array.size()) * sizeof(T));
  }
  void finish() const;  // throws ProgramError if bytes are left
  void take(void* to, size_t bytes);

 private:
  std::string_view left_;
};

// Reads what a snapshot with a RowSet wrote: of each array only these rows, which are of the same width in all of it.
class ChangesReader {
 public:
  static constexpr bool kChanges = true;
  ChangesReader(StateReader& from, const RowSet& rows) : from_(from), rows_(rows) {}

  template <class V>
  V read() {
    return from_.read<V>();
  }
  template <class V>
  void expect(const V& wanted, const char* what) {
    from_.expect(wanted, what);
  }
  template <class T>
  void read_all(Array<T>& array) {
    if (!rows_.count()) return;
    int64_t width = array.size() / rows_.rows();
    for (int64_t row = rows_.next(0); width && row < rows_.rows(); row = rows_.next(row + 1)) {
      from_.take(array.data() + row * width, static_cast<size_t>(width) * sizeof(T));
    }
  }
  void finish() const { from_.finish(); }

 private:
  StateReader& from_;
  const RowSet& rows_;
};

}  // namespace paddle_mini
