// Implements construction of a GPU and its transfers.
#include "cuda/gpu.h"

#include "cuda/check.h"

namespace paddle_mini {

namespace {

// A CUDA graph: many launches at the cost of one.
class Recording : public Work {
 public:
  Recording(cudaGraphExec_t graph, cudaStream_t stream) : graph_(graph), stream_(stream) {}
  ~Recording() override { cudaGraphExecDestroy(graph_); }
  void run() override { check(cudaGraphLaunch(graph_, stream_), "launching a graph"); }

 private:
  cudaGraphExec_t graph_;
  cudaStream_t stream_;
};

}  // namespace

Gpu::Gpu(int index, const OpTable& operators)
    : index_(index), place_{DeviceKind::Gpu, index}, operators_(operators), queue_(index),
      memory_(std::make_shared<MemoryPool>(index, device_memory, queue_)),
      staging_(std::make_shared<MemoryPool>(index, pinned_memory, queue_)) {}

Gpu::~Gpu() { cudaSetDevice(index_); }

std::string Gpu::description() const {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index_), "reading its properties");
  return text(properties.name, ", compute capability ", properties.major, ".", properties.minor, ", ",
              properties.multiProcessorCount, " multiprocessors, ", properties.totalGlobalMem >> 20, " MiB");
}

// Work that must not be recorded throws (cuda/copy.cc).
std::unique_ptr<Work> Gpu::record(Work& work) {
  std::lock_guard<std::recursive_mutex> alone(queue_.order());
  check(cudaSetDevice(index_), "choosing a device");
  check(cudaStreamBeginCapture(queue_.stream(), cudaStreamCaptureModeThreadLocal), "beginning to record");
  bool good = true;
  try {
    work.run();
  } catch (...) { good = false; }  // without the recording, the step itself throws
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  good = cudaStreamEndCapture(queue_.stream(), &graph) == cudaSuccess && good;
  good = good && graph && cudaGraphInstantiate(&made, graph, 0) == cudaSuccess;
  if (graph) cudaGraphDestroy(graph);
  cudaGetLastError();
  return good ? std::make_unique<Recording>(made, queue_.stream()) : nullptr;
}

void Gpu::within(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  std::lock_guard<std::recursive_mutex> alone(queue_.order());
  check(cudaSetDevice(index_), "choosing a device");
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, queue_.stream()), "copying");
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
