// Clique: GPUs of several processes, also on several machines, that add up values without the hosts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace paddle_mini {

class Clique {
 public:
  struct Sum {  // `from` may be `to`
    const void* from;
    void* to;
    DType dtype;
    int64_t count;
  };

  virtual ~Clique() = default;  // leaves the clique, without waiting for the others
  // Each element of `to` becomes the sum of all members' in `from`: the same bits for all. All members ask for the same sums,
  // and no work of the device may use this memory. Returns when they are done. Throws DeviceError after so many seconds, or
  // when the others can't be reached, and Interrupted if `stop` is true: then `to` has any values, and this member has left.
  virtual void add_up(const std::vector<Sum>& sums, double seconds, bool (*stop)()) = 0;
};

// The cliques of a kind of devices.
class Cliques {
 public:
  virtual ~Cliques() = default;
  virtual std::string version() = 0;  // the library that adds up has it; all members need the same
  virtual std::string gpu(int device) = 0;  // the device among those of all machines; members must not share one
  // A name for a new clique. Its first member must have made it, in the process that joins.
  virtual std::string new_id() = 0;
  // Returns when all `size` members have joined. DeviceError and Interrupted are as for Clique::add_up.
  virtual std::unique_ptr<Clique> join(int device, const std::string& id, int rank, int size, double seconds,
                                       bool (*stop)()) = 0;
};

}  // namespace paddle_mini
