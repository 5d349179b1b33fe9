// Converts errors of the CUDA runtime to DeviceError.
#pragma once

#include "core/error.h"
#include "cuda/runtime_api.h"

namespace paddle_mini {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clears the error, which is reported now
  fail<DeviceError>("the GPU failed (", what, "): ", cudaGetErrorString(error));
}

// A stream that does not synchronize with the default stream.
inline cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return stream;
}

}  // namespace paddle_mini
