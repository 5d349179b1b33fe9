// Kernels of parts on a CPU.
#pragma once

namespace paddle_mini {

void SplitOrConcatKernel::run(KernelContext& context) {
  const size_t size = size_of(whole_->tensor.dtype),
               row_bytes = whole_->tensor.bytes() / static_cast<size_t>(std::max<int64_t>(rows_, 1));
  parallel_for(context, {rows_, bytes_cost(2.0 * static_cast<double>(row_bytes))}, [&](int64_t begin, int64_t end) {
    char* at = static_cast<char*>(whole_->tensor.data) + static_cast<size_t>(begin) * row_bytes;
    for (int64_t row = begin; row < end; ++row) {
      for (size_t i = 0; i < numels_.size(); ++i) {
        size_t bytes = static_cast<size_t>(numels_[i]) * size;
        if (i < parts_.size() && parts_[i] && bytes) {
          char* part = static_cast<char*>(parts_[i]->tensor.data) + static_cast<size_t>(row) * bytes;
          std::memcpy(join_ ? at : part, join_ ? part : at, bytes);
        }
        at += bytes;
      }
    }
  });
}

}  // namespace paddle_mini
