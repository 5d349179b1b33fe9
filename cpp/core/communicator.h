// Communicator: all-reduce and barriers among replicas that run in threads of one process.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/tensor.h"

namespace paddle_mini {

// Each replica makes its calls sequentially; all replicas make the same calls in the same order.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int size() const = 0;
  // Replaces every replica's tensor by the sum of all of them, added in the order of the ranks, so that all get the
  // same bits. Blocks until every replica has its sum. All tensors must have the same shape and dtype. Throws
  // DeviceError in all replicas if one was aborted before the last one arrived, or if their tensors differ.
  virtual void sum(int rank, const Tensor& tensor) = 0;
  // Like sum() for tensors on devices that can sum without the host, in the order of the stream: returns after the
  // launch. Returns false, without any effect, if they can't.
  virtual bool sum_on_stream(int rank, const Tensor& tensor, void* stream) = 0;
  // Barrier: returns when every replica has called it, so that no remaining work of any replica can fail its checks.
  // Throws DeviceError in all replicas if one was aborted before.
  virtual void barrier(int rank) = 0;
  // Throws DeviceError if a replica was aborted. Does not block: loops call it before each step.
  virtual void require_all() = 0;
  // Marks one replica as failed: all current and later waits of the others throw DeviceError with this reason.
  virtual void cancel(const std::string& reason) = 0;
};

// The communicator of threads in this process. `sum` needs memory that the CPU can access: the host's or an emulated
// device's.
class ThreadCommunicator : public Communicator {
 public:
  explicit ThreadCommunicator(int size, std::unique_ptr<ReplicaSums> on_streams = nullptr);
  int size() const override { return size_; }
  void sum(int rank, const Tensor& tensor) override { run_collective(rank, &tensor); }
  bool sum_on_stream(int rank, const Tensor& tensor, void* stream) override;
  void barrier(int rank) override { run_collective(rank, nullptr); }
  void require_all() override;
  void cancel(const std::string& reason) override;
  void reset();  // clears cancel(), while no replica is in a call

 private:
  using Stream = std::optional<void*>;  // none: the CPU sums

  void run_collective(int rank, const Tensor* tensor, Stream stream = {});
  void launch();
  void arrive();
  void leave();
  std::string disagreement() const;

  const int size_;
  const std::unique_ptr<ReplicaSums> on_streams_;
  std::vector<const Tensor*> tensors_;  // by rank; nullptr for a call of barrier()
  std::vector<Stream> streams_;         // by rank
  std::string not_launched_;            // the error of the last sum on streams, or ""
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0, left_ = 0;
  unsigned long long collectives_ = 0, ended_ = 0;
  bool aborted_ = false;
  std::string reason_;
};

}  // namespace paddle_mini
