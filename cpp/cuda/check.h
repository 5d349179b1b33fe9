// Errors of the CUDA runtime become DeviceError.
#pragma once

#include "core/error.h"
#include "cuda/runtime_api.h"

namespace paddle_mini {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // it has been told
  fail<DeviceError>("the GPU failed (", what, "): ", cudaGetErrorString(error));
}

// A stream that waits for no other.
inline cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return stream;
}

}  // namespace paddle_mini
