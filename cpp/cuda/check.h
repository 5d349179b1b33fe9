// Converts errors of the CUDA runtime to DeviceError.
#pragma once

#include "core/error.h"
#include "cuda/runtime_api.h"

namespace paddle_mini {

[[noreturn]] inline void fail_of_gpu(cudaError_t error, const char* what) {
  cudaGetLastError();  // clears the error, which is reported now
  bool lost = cudaGetLastError() != cudaSuccess;  // the driver repeats the error for ever
  fail<DeviceError>("the GPU failed (", what, "): ", cudaGetErrorString(error),
                    lost ? "; this process can't use it any more, a new one can" : "");
}

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail_of_gpu(error, what);
}

// A stream that does not synchronize with the default stream.
inline cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return stream;
}

}  // namespace paddle_mini
