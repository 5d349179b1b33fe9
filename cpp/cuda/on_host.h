// Emulates a GPU on the CPU, to check kernels without one: the CUDA runtime calls that are used, executed
// synchronously, and blocks whose threads run in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include <unistd.h>

enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorNoDevice = 100, cudaErrorNotReady = 600 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;

struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  int major, minor, multiProcessorCount;
  cudaUUID_t uuid;
};

constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocPortable = 1;

// For stand-ins of vendor libraries (tests/gpu/stand_ins): the device of a stream, a function that runs work in its order, and
// one that returns whether work of theirs is still running, if they have set it.
struct CUstream_st {
  int device;
  void (*launch)(std::function<void()> launched);
  std::function<bool()> is_running = nullptr;
};

namespace paddle_mini::emulation {

extern thread_local int device;

// The launches that a thread records, in order; they run when the recording is launched.
using Launches = std::vector<std::function<void()>>;
extern thread_local Launches* recording;

// Memory of devices. The host can't follow its addresses, as it can't follow a GPU's: a kernel that declares .on_gpu() but
// accesses memory outside of launches crashes.
void* allocate(size_t bytes);  // nullptr if out of memory
void deallocate(void* memory);

// While there is one, what has been launched runs, and memory of devices can be read and written.
class Running {
 public:
  Running();
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

template <class F>
void launch(F launched) {
  if (recording) return recording->push_back(std::move(launched));
  Running running;
  launched();
}

}  // namespace paddle_mini::emulation

inline cudaError_t cudaGetDeviceCount(int* count) { return *count = 4, cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) { return *device = paddle_mini::emulation::device, cudaSuccess; }
inline cudaError_t cudaSetDevice(int device) { return paddle_mini::emulation::device = device, cudaSuccess; }
// Each process has devices of its own.
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {"emulated on the host", size_t{1} << 30, 9, 0, 4, {}};
  int own[] = {getpid(), device};
  std::memcpy(properties->uuid.bytes, own, sizeof own);
  return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) { return *version = 13000, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 13000, cudaSuccess; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "no error";
}

template <class T>
cudaError_t cudaMalloc(T** to, size_t bytes) {
  *to = bytes > size_t{1} << 30 ? nullptr : static_cast<T*>(paddle_mini::emulation::allocate(bytes));
  return *to ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFree(void* memory) { return paddle_mini::emulation::deallocate(memory), cudaSuccess; }
template <class T>
cudaError_t cudaHostAlloc(T** to, size_t bytes, unsigned) {
  *to = static_cast<T*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return *to ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFreeHost(void* memory) { return std::free(memory), cudaSuccess; }

inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
  paddle_mini::emulation::launch([=] { std::memmove(to, from, bytes); });
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_step, const void* from, size_t from_step, size_t bytes,
                                     size_t rows, cudaMemcpyKind, cudaStream_t) {
  paddle_mini::emulation::launch([=] {
    for (size_t row = 0; row < rows; ++row) {
      std::memcpy(static_cast<char*>(to) + row * to_step, static_cast<const char*>(from) + row * from_step, bytes);
    }
  });
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  using namespace paddle_mini::emulation;
  return *stream = new CUstream_st{device, &launch<std::function<void()>>}, cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) { return delete stream, cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return stream->is_running && stream->is_running() ? cudaErrorNotReady : cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return *event = nullptr, cudaSuccess; }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

using cudaGraph_t = paddle_mini::emulation::Launches*;
using cudaGraphExec_t = paddle_mini::emulation::Launches*;
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  paddle_mini::emulation::recording = new paddle_mini::emulation::Launches;
  return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  *graph = std::exchange(paddle_mini::emulation::recording, nullptr);
  return cudaSuccess;
}
inline cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = paddle_mini::emulation::recording ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  *made = new paddle_mini::emulation::Launches(*graph);
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete graph, cudaSuccess; }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return delete graph, cudaSuccess; }
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  paddle_mini::emulation::Running running;
  for (const auto& launched : *graph) launched();
  return cudaSuccess;
}

namespace paddle_mini::emulation {

// Indices of the running thread.
struct Here {
  int thread = 0;
  int64_t block = 0, blocks = 1;
};
extern thread_local Here here;

// Runs every thread of every block sequentially; threads that synchronize (`syncs`) have their own stacks.
void run_blocks(int64_t blocks, int threads, bool syncs, void (*body)(const void*), const void* argument);

void sync_block();

}  // namespace paddle_mini::emulation
