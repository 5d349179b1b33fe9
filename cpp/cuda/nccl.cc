// Loads NCCL 2. One thread launches for all GPUs in a group, so no launch waits for another replica's thread.
#include "cuda/nccl.h"

#include <mutex>

#include "core/error.h"
#include "cuda/runtime_api.h"
#include "cuda/vendor_library.h"

namespace paddle_mini {
namespace {

using Member = struct ncclComm*;  // the rank of one GPU in a communicator
constexpr int kSum = 0;

struct Library {
  std::string description;
  int (*init_all)(Member*, int, const int*) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_reduce)(const void*, void*, size_t, int, int, Member, cudaStream_t) = nullptr;
  int (*comm_abort)(Member) = nullptr;
  const char* (*text_of)(int) = nullptr;
};

Library load() {
  VendorLibrary vendor("NCCL", "PM_NCCL", "libnccl.so.2", "nvidia/nccl/lib");
  Library library{vendor.description()};
  if (!vendor.found()) return library;
  vendor.find("ncclCommInitAll", library.init_all);
  vendor.find("ncclGroupStart", library.group_start);
  vendor.find("ncclGroupEnd", library.group_end);
  vendor.find("ncclAllReduce", library.all_reduce);
  vendor.find("ncclCommAbort", library.comm_abort);
  vendor.find("ncclGetErrorString", library.text_of);
  return library;
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

void check(int status, const char* what) {
  require<DeviceError>(status == 0, "NCCL failed (", what, "): ", status == 0 ? "" : library().text_of(status));
}

int nccl_type(DType dtype) {
  switch (dtype) {
    case DType::Int32: return 2;
    case DType::Int64: return 4;
    case DType::Float16: return 6;
    case DType::Float32: return 7;
    case DType::Float64: return 8;
    case DType::BFloat16: return 9;
    default: fail<DeviceError>("NCCL can't add up ", name_of(dtype));
  }
}

// Restores the caller's current device, which NCCL changes.
class SameDevice {
 public:
  SameDevice() { cudaGetDevice(&device_); }
  ~SameDevice() { cudaSetDevice(device_); }

 private:
  int device_ = 0;
};

class NcclSums : public ReplicaSums {
 public:
  explicit NcclSums(std::vector<int> devices) : devices_(std::move(devices)) {}
  ~NcclSums() override { cancel(); }  // no sum is running: a run waits for its sums

  void launch(const std::vector<Contribution>& brought, DType dtype, int64_t count) override {
    if (count == 0) return;
    std::lock_guard<std::mutex> lock(mutex_);
    SameDevice same;
    try {
      if (clique_.empty()) make_clique();
      launch_group(brought, nccl_type(dtype), static_cast<size_t>(count));
    } catch (...) {
      give_up_clique();
      throw;
    }
  }

  void cancel() override {
    std::lock_guard<std::mutex> lock(mutex_);
    SameDevice same;
    give_up_clique();
  }

 private:
  void make_clique() {
    std::vector<Member> made(devices_.size());
    check(library().init_all(made.data(), static_cast<int>(made.size()), devices_.data()), "connecting GPUs");
    clique_ = std::move(made);
  }

  // Ends the group even if one of its sums failed.
  void launch_group(const std::vector<Contribution>& brought, int type, size_t count) {
    check(library().group_start(), "beginning sums");
    int status = 0;
    for (size_t rank = 0; rank < brought.size() && status == 0; ++rank) {
      void* data = brought[rank].data;
      status = library().all_reduce(data, data, count, type, kSum, clique_[rank],
                                    static_cast<cudaStream_t>(brought[rank].stream));
    }
    int ended = library().group_end();
    check(status ? status : ended, "adding up");
  }

  // Aborts all ranks in one group, before waiting for the first.
  void give_up_clique() {
    if (clique_.empty()) return;
    library().group_start();
    for (Member member : clique_) library().comm_abort(member);
    library().group_end();
    clique_.clear();
  }

  const std::vector<int> devices_;
  std::mutex mutex_;  // guards the members below
  std::vector<Member> clique_;
};

}  // namespace

std::unique_ptr<ReplicaSums> sums_by_nccl(const std::vector<int>& devices) {
  return library().init_all ? std::make_unique<NcclSums>(devices) : nullptr;
}

std::string nccl_description() { return library().description; }

}  // namespace paddle_mini
