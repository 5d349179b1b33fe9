// Conversion between concatenated sequences and a batch of sequences padded to one length.
#pragma once

#include <algorithm>

#include "math/cpu/each_sequence.h"
#include "math/row_runs.h"

namespace paddle_mini {

inline int64_t longest_of(const Offsets& offsets) {
  int64_t longest = 0;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) longest = std::max(longest, offsets[i + 1] - offsets[i]);
  return longest;
}

// Padded [n, length, ...] from rows. Elements past a sequence are `pad`, a row or one element; nullptr: zeros.
class PadKernel : public Kernel {
 public:
  PadKernel(const Variable* rows, const Variable* padded, const Variable* pad, const Offsets& offsets)
      : rows_(rows), padded_(padded), pad_(pad), offsets_(offsets), length_(padded->tensor.shape[1]),
        bytes_(row_bytes(rows)) {}

  void run(KernelContext& context) override {
    const double cost = bytes_cost(2.0 * static_cast<double>(bytes_));
    each_sequence(context, offsets_, cost, [&](int64_t i, int64_t begin, int64_t end) {
      int64_t rows = end - begin, to = i * length_;
      copy_run(rows_, padded_, bytes_, {begin, to, rows});
      for (int64_t row = to + rows; row < to + length_; ++row) fill(row_of(padded_, row, bytes_));
    });
  }

 private:
  void fill(char* row) const {
    if (!pad_) {
      std::fill_n(row, bytes_, '\0');
      return;
    }
    size_t pad_bytes = pad_->tensor.bytes();  // divides the bytes of a row
    for (size_t at = 0; at < bytes_; at += pad_bytes) std::memcpy(row + at, pad_->tensor.data, pad_bytes);
  }

  const Variable *rows_, *padded_, *pad_;
  Offsets offsets_;
  int64_t length_;
  size_t bytes_;
};

// Rows from padded [n, length, ...].
class UnpadKernel : public RowRunsKernel {
 public:
  UnpadKernel(const Variable* padded, const Variable* rows, const Offsets& offsets)
      : RowRunsKernel(padded, rows, runs(padded->tensor.shape[1], offsets)) {}

 private:
  static RowRuns runs(int64_t length, const Offsets& offsets) {
    RowRuns result;
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      result.push_back({static_cast<int64_t>(i) * length, offsets[i], offsets[i + 1] - offsets[i]});
    }
    return result;
  }
};

}  // namespace paddle_mini
