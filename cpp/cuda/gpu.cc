// Putting a GPU together, and its transfers.
#include "cuda/gpu.h"

#include "cuda/check.h"

namespace paddle_mini {

Gpu::Gpu(int index, const OpTable& operators)
    : index_(index), place_{DeviceKind::Gpu, index}, operators_(operators), queue_(index),
      memory_(std::make_shared<MemoryPool>(index, device_memory, queue_.stream())),
      staging_(std::make_shared<MemoryPool>(index, pinned_memory, queue_.stream())) {}

Gpu::~Gpu() { cudaSetDevice(index_); }

std::string Gpu::description() const {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index_), "asking for its properties");
  return text(properties.name, ", compute capability ", properties.major, ".", properties.minor, ", ",
              properties.multiProcessorCount, " multiprocessors, ", properties.totalGlobalMem >> 20, " MiB");
}

Gpu::Lane::Lane() : stream_(new_stream()) {}
Gpu::Lane::~Lane() { cudaStreamDestroy(stream_); }

void Gpu::Lane::copy(int device, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  std::lock_guard<std::mutex> lock(mutex_);
  check(cudaSetDevice(device), "choosing a device");
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "copying");
  check(cudaStreamSynchronize(stream_), "copying");
}

}  // namespace paddle_mini
