// batches: operators run for a few entries of a batch at a time, so that what one stores is in cache when the next one reads it.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// In a program that writes no variable of the scope, on the CPU: consecutive operators that split a batch (splits_batch in
// their schemas, or elementwise ones), and whose values of all entries do not fit into the cache, run for as many entries as
// do, then for the next ones. What only they read has memory for these entries. Every value has the same bits.
Segment split_batches(Segment segment, const Placement& placement);

// Bytes that the second-level cache holds beside filters, or what a test has set in order to split small batches; 0: always.
inline constexpr int64_t kBatchBytes = int64_t{1} << 20;
void set_batch_bytes(int64_t bytes);

}  // namespace paddle_mini
