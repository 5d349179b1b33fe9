// Implements copies on the stream of the kernels.
#include "cuda/copy.h"

#include "cuda/check.h"

namespace paddle_mini {
namespace {

void copy(KernelContext& context, const void* from, size_t bytes, void* to, cudaMemcpyKind kind) {
  context.launch_pending();
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, bytes, kind, static_cast<cudaStream_t>(context.stream)), "copying");
}

}  // namespace

void require_not_recorded(const KernelContext& context) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(static_cast<cudaStream_t>(context.stream), &status);
  require<DeviceError>(status == cudaStreamCaptureStatusNone, "this work can't be recorded");
}

void copy_bytes(KernelContext& context, const void* from, size_t bytes, void* to) {
  copy(context, from, bytes, to, cudaMemcpyDeviceToDevice);
}

void copy_rows(KernelContext& context, int64_t rows, size_t bytes, const void* from, size_t from_step, void* to,
               size_t to_step) {
  if (rows <= 1) return copy_bytes(context, from, rows == 1 ? bytes : 0, to);
  context.launch_pending();
  if (bytes == 0) return;
  check(cudaMemcpy2DAsync(to, to_step, from, from_step, bytes, static_cast<size_t>(rows), cudaMemcpyDeviceToDevice,
                          static_cast<cudaStream_t>(context.stream)),
        "copying rows");
}

// The runtime copies unpinned memory to a staging buffer before it returns.
void upload(KernelContext& context, const void* from, size_t bytes, void* to) {
  require_not_recorded(context);  // the host memory will have other content when the recording is launched
  copy(context, from, bytes, to, cudaMemcpyHostToDevice);
}

void download(KernelContext& context, const void* from, size_t bytes, void* to) {
  require_not_recorded(context);
  copy(context, from, bytes, to, cudaMemcpyDeviceToHost);
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(context.stream)), "waiting for a copy");
}

}  // namespace paddle_mini
