// libpaddle_mini_cuda.so: what it exports, and whether its GPUs can be used.
#include <fstream>
#include <map>
#include <mutex>

#include "cuda/check.h"
#include "cuda/cublas.h"
#include "cuda/cudnn.h"
#include "cuda/gpu.h"
#include "cuda/nccl.h"

extern "C" void paddle_mini_define_gpu_operators(paddle_mini::OpTable& ops);  // made by CMake

namespace paddle_mini {
namespace {

// CUDA 13 runs with drivers from this on.
constexpr int kLeastDriver = 580;

// "580.95.05", or "" where there is none.
std::string driver() {
  std::string version;
  std::ifstream("/sys/module/nvidia/version") >> version;
  return version;
}

std::string version_text(int version) { return text(version / 1000, ".", version % 1000 / 10); }

class CudaLibrary : public AcceleratorLibrary {
 public:
  CudaLibrary() {
    OpTable all;
    paddle_mini_define_gpu_operators(all);
    for (const std::string& type : all.types()) {  // a file may also define operators that stay on the processor
      if (all.at(type).runs_on_gpu()) operators_.add(all.at(type));
    }
  }

  std::string description() const override {
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    return text("CUDA ", version_text(runtime), ", driver ", driver().empty() ? "none" : driver(), ", ",
                cublas_description(), ", ", cudnn_description(), ", ", nccl_description());
  }

  std::string trouble() const override {
    int supported = 0, count = 0;
    if (cudaDriverGetVersion(&supported) != cudaSuccess || supported == 0) return "there is no NVIDIA driver";
    cudaError_t error = cudaGetDeviceCount(&count);
    cudaGetLastError();
#ifndef PM_CUDA_ON_HOST
    if (error == cudaErrorInsufficientDriver) {
      return text("the driver is too old: ", driver().empty() ? "of CUDA " + version_text(supported) : driver(),
                  ", it must be ", kLeastDriver, " or newer");
    }
#endif
    if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) return "there is no device";
    return error == cudaSuccess ? "" : cudaGetErrorString(error);
  }

  int device_count() const override {
    int count = 0;
    bool known = cudaGetDeviceCount(&count) == cudaSuccess;
    cudaGetLastError();
    return known ? count : 0;
  }

  std::shared_ptr<Accelerator> open(int index) override {
    std::string why_not = trouble();
    require<DeviceError>(why_not.empty(), "no GPU can be used: ", why_not);
    require<DeviceError>(index >= 0 && index < device_count(), "there is no GPU ", index, ": there are ",
                         device_count());
    std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<Gpu> gpu = open_[index].lock();
    if (!gpu) open_[index] = gpu = std::make_shared<Gpu>(index, operators_);
    return gpu;
  }

  std::unique_ptr<ReplicaSums> sums_among(const std::vector<int>& devices) override { return sums_by_nccl(devices); }

 private:
  OpTable operators_;
  std::mutex mutex_;
  std::map<int, std::weak_ptr<Gpu>> open_;
};

}  // namespace
}  // namespace paddle_mini

extern "C" __attribute__((visibility("default"))) paddle_mini::AcceleratorLibrary* paddle_mini_cuda(unsigned abi) {
  using namespace paddle_mini;
  if (abi != kAcceleratorAbi) return nullptr;
  static CudaLibrary* library = new CudaLibrary;  // lives as long as the process: tensors may outlive statics
  return library;
}
