// Copies on the stream where kernels are launched.
#include "cuda/copy.h"

#include "cuda/check.h"

namespace paddle_mini {
namespace {

void copy(Device& device, const void* from, size_t bytes, void* to, cudaMemcpyKind kind) {
  device.launch_waiting();
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, bytes, kind, static_cast<cudaStream_t>(device.stream)), "copying");
}

}  // namespace

void copy_bytes(Device& device, const void* from, size_t bytes, void* to) {
  copy(device, from, bytes, to, cudaMemcpyDeviceToDevice);
}

// The runtime stages memory that is not pinned before it returns.
void upload(Device& device, const void* from, size_t bytes, void* to) {
  copy(device, from, bytes, to, cudaMemcpyHostToDevice);
}

}  // namespace paddle_mini
