// Kernels of parts on a CPU.
#pragma once

namespace paddle_mini {

void SplitOrConcatKernel::run(KernelContext&) {
  char* at = static_cast<char*>(whole_->tensor.data);
  size_t size = size_of(whole_->tensor.dtype);
  for (int64_t row = 0; row < rows_; ++row) {
    for (size_t i = 0; i < numels_.size(); ++i) {
      size_t bytes = static_cast<size_t>(numels_[i]) * size;
      if (i < parts_.size() && parts_[i] && bytes) {
        char* part = static_cast<char*>(parts_[i]->tensor.data) + static_cast<size_t>(row) * bytes;
        std::memcpy(join_ ? at : part, join_ ? part : at, bytes);
      }
      at += bytes;
    }
  }
}

}  // namespace paddle_mini
