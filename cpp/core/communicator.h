// Communicator: replicas in one process, each run by a thread of its own, that add up what each of them has.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/accelerator.h"
#include "core/tensor.h"

namespace paddle_mini {

// Calls of one replica come one after the other; all replicas make the same calls in the same order.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int size() const = 0;
  // Every replica's tensor becomes the sum of all of them, added in the order of the ranks, so that all get the same bits.
  // Returns when that is so. All must bring the same shape and dtype. DeviceError, for all, when one of them has given up
  // before the last one came, or has brought something else.
  virtual void sum(int rank, const Tensor& tensor) = 0;
  // The same for tensors of accelerators that can do it without the host, in the order of the stream: returns when it
  // is launched. False where they can't; nothing was done then.
  virtual bool sum_on_stream(int rank, const Tensor& tensor, void* stream) = 0;
  // Returns when every replica has asked: then nothing that any of them still has to do can be refused. DeviceError, for
  // all, when one has given up before.
  virtual void agree(int rank) = 0;
  // DeviceError when a replica has given up. Does not wait: a loop asks before each of its steps.
  virtual void require_all() = 0;
  // One replica can't go on: whoever waits for it, now or later, gets this as DeviceError.
  virtual void give_up(const std::string& reason) = 0;
};

// Of threads of this process. `sum` is for memory that the processor can follow: the host's, that of emulated devices.
class ThreadCommunicator : public Communicator {
 public:
  explicit ThreadCommunicator(int size, std::unique_ptr<ReplicaSums> on_streams = nullptr);
  int size() const override { return size_; }
  void sum(int rank, const Tensor& tensor) override { meet(rank, &tensor); }
  bool sum_on_stream(int rank, const Tensor& tensor, void* stream) override;
  void agree(int rank) override { meet(rank, nullptr); }
  void require_all() override;
  void give_up(const std::string& reason) override;
  void begin_anew();  // forgets who has given up, while no replica is in a call

 private:
  using Stream = std::optional<void*>;  // none: the processor adds up

  void meet(int rank, const Tensor* tensor, Stream stream = {});
  void launch();
  void arrive();
  void leave();
  std::string disagreement() const;

  const int size_;
  const std::unique_ptr<ReplicaSums> on_streams_;
  std::vector<const Tensor*> brought_;  // by rank; nullptr: it asks for agreement
  std::vector<Stream> streams_;         // where it lies
  std::string not_launched_;            // why, of the last sum on streams
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0, left_ = 0;
  unsigned long long meetings_ = 0, ended_ = 0;
  bool given_up_ = false;
  std::string reason_;
};

}  // namespace paddle_mini
