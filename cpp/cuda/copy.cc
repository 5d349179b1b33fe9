// Implements copies on the stream of the kernels.
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

void require_not_recorded(const Device& device) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(static_cast<cudaStream_t>(device.stream), &status);
  require<DeviceError>(status == cudaStreamCaptureStatusNone, "this work can't be recorded");
}

void copy_bytes(Device& device, const void* from, size_t bytes, void* to) {
  copy(device, from, bytes, to, cudaMemcpyDeviceToDevice);
}

void copy_rows(Device& device, int64_t rows, size_t bytes, const void* from, size_t from_step, void* to,
               size_t to_step) {
  if (rows <= 1) return copy_bytes(device, from, rows == 1 ? bytes : 0, to);
  device.launch_waiting();
  if (bytes == 0) return;
  check(cudaMemcpy2DAsync(to, to_step, from, from_step, bytes, static_cast<size_t>(rows), cudaMemcpyDeviceToDevice,
                          static_cast<cudaStream_t>(device.stream)),
        "copying rows");
}

// The runtime copies unpinned memory to a staging buffer before it returns.
void upload(Device& device, const void* from, size_t bytes, void* to) {
  require_not_recorded(device);  // the host memory will have other content when the recording is launched
  copy(device, from, bytes, to, cudaMemcpyHostToDevice);
}

void download(Device& device, const void* from, size_t bytes, void* to) {
  require_not_recorded(device);
  copy(device, from, bytes, to, cudaMemcpyDeviceToHost);
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(device.stream)), "waiting for a copy");
}

}  // namespace paddle_mini
