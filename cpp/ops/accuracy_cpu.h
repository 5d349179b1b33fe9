// CPU kernels of accuracy.
#pragma once

namespace paddle_mini {
namespace {

void AccuracyKernel::run(KernelContext&) {
  int32_t hits = 0;
  for (int64_t i = 0; i < rows; ++i) {
    bool found = false;
    for (int64_t j = 0; j < best; ++j) found |= indices[i * best + j] == label[i];
    hits += found;
  }
  correct[0] = hits;
  total[0] = static_cast<int32_t>(rows);
  accuracy[0] = rows ? static_cast<float>(hits) / static_cast<float>(rows) : 0.0f;
}

}  // namespace
}  // namespace paddle_mini
