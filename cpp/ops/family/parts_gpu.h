// Kernels of parts on a GPU.
#pragma once

#include "math/copy.h"

namespace paddle_mini {

void SplitOrConcatKernel::run(KernelContext& context) {
  char* at = static_cast<char*>(whole_->tensor.data);
  size_t size = size_of(whole_->tensor.dtype), row = 0;
  for (int64_t numel : numels_) row += static_cast<size_t>(numel) * size;
  for (size_t i = 0; i < numels_.size(); ++i) {
    size_t bytes = static_cast<size_t>(numels_[i]) * size;
    if (i < parts_.size() && parts_[i]) {
      void* part = parts_[i]->tensor.data;
      if (join_) copy_rows(context, rows_, bytes, part, bytes, at, row);
      else copy_rows(context, rows_, bytes, at, row, part, bytes);
    }
    at += bytes;
  }
}

}  // namespace paddle_mini
