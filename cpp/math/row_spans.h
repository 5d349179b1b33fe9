// RowSpans: the rows of each sequence, either concatenated according to the lod, or padded to one width with given lengths.
#pragma once

#include <algorithm>
#include <optional>

#include "core/kept_array.h"
#include "core/kernel.h"
#include "math/sequences.h"

namespace paddle_mini {

class RowSpans {
 public:
  // Uses the last level of the port's lod, or, if `length_port` is given, a padded port [count, width, ...].
  RowSpans(const KernelInit& init, const char* port, const char* length_port) {
    const Tensor& tensor = init.input(port)->tensor;
    if (init.input(length_port)) {
      pad(init, length_port, tensor.shape[0], tensor.shape[1]);
      return;
    }
    const auto& offsets = tensor.lod.back();
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      begins_.push_back(offsets[i]);
      lengths_.push_back(offsets[i + 1] - offsets[i]);
      longest_ = std::max(longest_, lengths_.back());
    }
  }
  // Padded sequences of this count and width.
  RowSpans(const KernelInit& init, const char* length_port, int64_t count, int64_t width) {
    pad(init, length_port, count, width);
  }

  // Reads the lengths of this run; throws unless they are in [0, width].
  void refresh() {
    for (int64_t i = 0; lengths_given_ && i < count(); ++i) {
      int64_t length = (*lengths_given_)[i];
      require<OpError>(length >= 0 && length <= longest_, port_, " ", i, " is ", length, ", a sequence has at most ",
                       longest_, " rows");
      lengths_[static_cast<size_t>(i)] = length;
    }
  }

  int64_t count() const { return static_cast<int64_t>(begins_.size()); }
  int64_t begin(int64_t i) const { return begins_[static_cast<size_t>(i)]; }  // its first row
  int64_t length(int64_t i) const { return lengths_[static_cast<size_t>(i)]; }
  int64_t longest() const { return longest_; }  // maximum number of rows of a sequence
  bool padded() const { return lengths_given_.has_value(); }

 private:
  void pad(const KernelInit& init, const char* length_port, int64_t count, int64_t width) {
    lengths_given_.emplace(init, length_port);
    port_ = length_port;
    longest_ = width;
    for (int64_t i = 0; i < count; ++i) begins_.push_back(i * width);
    lengths_.resize(begins_.size());
  }

  std::optional<IndexIn> lengths_given_;
  const char* port_ = "";
  KeptArray<int64_t> begins_, lengths_;
  int64_t longest_ = 0;
};

// Number of sequences in the last level; -1 while a program is being built.
inline int64_t sequence_count(const InferContext& c, const char* port) { return count_of(sequences(c, port)); }

// The lengths of padded sequences: one for each.
inline void require_lengths(const InferContext& c, const char* port, int64_t count) {
  require_index(c, port);
  const Shape& shape = c.shape(port);
  int64_t given = shape.numel(0, shape.rank());
  require<ShapeError>(dims_agree(given, count), port, " has shape ", shape.str(), ", there are ", count, " sequences");
}

}  // namespace paddle_mini
