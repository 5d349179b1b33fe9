// Communicator: replicas in one process, each run by a thread of its own, that add up what each of them has.
#pragma once

#include "core/tensor.h"

namespace paddle_mini {

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int size() const = 0;
  // Every replica's tensor becomes the sum of all of them, added in the order of the ranks, so that all get the same bits.
  // Returns when that is so. All must bring the same shape and dtype, in the same order of calls. DeviceError when one of
  // them has given up (abort), or has brought something else.
  virtual void sum(int rank, const Tensor& tensor) = 0;
  // One replica can't go on: whoever waits for it, now or later, gets this as DeviceError.
  virtual void abort(const std::string& reason) = 0;
};

}  // namespace paddle_mini
