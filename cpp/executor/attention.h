// attention: products, softmax and what lies between them become one operator.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// matmul or matmul_v2 of queries and keys, possibly scaled, possibly with masks added, softmax along the last axis,
// possibly scaled (dropout in testing), and the product with values:
//   weight_factor softmax(scale Q K' + masks) V
// becomes the operator `attention`, which does not write the matrix of scores to memory. Programs that write variables
// of the scope, other devices than the CPU, results in between that anything else reads or fetches, batches that are
// broadcast, and few queries, for which packing keys would take longer than it saves, are left alone.
Segment fuse_attention(Segment segment, const Placement& placement);

}  // namespace paddle_mini
