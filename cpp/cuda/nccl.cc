// Sums over the GPUs of a process by NCCL. One thread launches for all in a group, so no launch waits for another
// replica's thread.
#include "cuda/nccl.h"

#include <mutex>

#include "cuda/nccl_library.h"

namespace paddle_mini {
namespace {

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
    std::vector<NcclMember> made(devices_.size());
    check_nccl(nccl().init_all(made.data(), static_cast<int>(made.size()), devices_.data()), "connecting GPUs");
    clique_ = std::move(made);
  }

  // Ends the group even if one of its sums failed.
  void launch_group(const std::vector<Contribution>& brought, int type, size_t count) {
    check_nccl(nccl().group_start(), "beginning sums");
    int status = 0;
    for (size_t rank = 0; rank < brought.size() && status == 0; ++rank) {
      void* data = brought[rank].data;
      status = nccl().all_reduce(data, data, count, type, kNcclSum, clique_[rank],
                                 static_cast<cudaStream_t>(brought[rank].stream));
    }
    int ended = nccl().group_end();
    check_nccl(status ? status : ended, "adding up");
  }

  // Aborts all ranks in one group, before waiting for the first.
  void give_up_clique() {
    if (clique_.empty()) return;
    nccl().group_start();
    for (NcclMember member : clique_) nccl().comm_abort(member);
    nccl().group_end();
    clique_.clear();
  }

  const std::vector<int> devices_;
  std::mutex mutex_;  // guards the members below
  std::vector<NcclMember> clique_;
};

}  // namespace

std::unique_ptr<ReplicaSums> sums_by_nccl(const std::vector<int>& devices) {
  return nccl().init_all ? std::make_unique<NcclSums>(devices) : nullptr;
}

std::string nccl_description() { return nccl().description; }

}  // namespace paddle_mini
