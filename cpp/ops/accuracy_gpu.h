// GPU kernels of accuracy.
#pragma once

#include "math/gpu/ids.h"
#include "math/gpu/lines.h"

namespace paddle_mini {
namespace {

struct Hit {
  Ids indices, label;
  int64_t best;
  PM_DEVICE int64_t operator()(const int64_t (&at)[1]) const {
    for (int64_t j = 0; j < best; ++j) {
      if (indices[at[0] * best + j] == label[at[0]]) return 1;
    }
    return 0;
  }
};
struct PutHits {
  int64_t rows;
  float* accuracy;
  int32_t *correct, *total;
  PM_DEVICE void operator()(int64_t, int64_t hits) const {
    *correct = static_cast<int32_t>(hits);
    *total = static_cast<int32_t>(rows);
    *accuracy = rows ? static_cast<float>(*correct) / static_cast<float>(rows) : 0.0f;
  }
};

void AccuracyKernel::run(KernelContext& context) {
  StridedIndex<1> one, all;
  all.add(rows, {1});
  fold(context, one, all, int64_t{0}, Hit{indices, label, best}, Plus{},
       PutHits{rows, accuracy.data(), correct.data(), total.data()});
}

}  // namespace
}  // namespace paddle_mini
