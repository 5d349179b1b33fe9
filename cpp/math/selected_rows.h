// Merging of sparse gradients: repeated rows are replaced by one row, their sum; rows come out sorted.
#pragma once

#include <utility>
#include <vector>

#include "math/map.h"

namespace paddle_mini {

// One list of rows with their values: rows[i] has values[i * width] and the following elements.
template <class T>
struct RowValues {
  const std::vector<int64_t>* rows;
  const T* values;
};

// Saved its memory between calls, so a call with no more rows than an earlier one allocates nothing.
class RowMerge {
 public:
  RowMerge() = default;
  explicit RowMerge(int64_t most_rows);

  // Sums the values of each row in the order of the lists and within them, so the result is deterministic. The sum for
  // rows()[i] begins at out[i * width]. `out` needs room for all given rows and must not overlap the lists' values.
  template <class T>
  void run(KernelContext& context, const std::vector<RowValues<T>>& lists, int64_t width, T* out);

  const std::vector<int64_t>& rows() const { return rows_; }  // sorted, without duplicates

 private:
  void sort();

  struct Entry {
    int64_t row;
    int32_t list;
    int64_t position;
  };
  std::vector<Entry> entries_, spare_;
  std::vector<int64_t> rows_;
};

extern template void RowMerge::run<float>(KernelContext&, const std::vector<RowValues<float>>&, int64_t, float*);
extern template void RowMerge::run<double>(KernelContext&, const std::vector<RowValues<double>>&, int64_t, double*);

}  // namespace paddle_mini
