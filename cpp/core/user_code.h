// UserCode: kernels that run code of the user, which may throw at any run.
#pragma once

namespace paddle_mini {

// A gradient of the package refuses no data that its forward operator has accepted (executor/undo_plan.cc); for code of
// the user nothing follows from the forward operator. A Kernel class may inherit this too.
class UserCode {
 public:
  virtual ~UserCode() = default;
};

}  // namespace paddle_mini
