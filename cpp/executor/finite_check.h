// finite_check: refuses NaN and infinities in the outputs of operators.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "core/scope.h"
#include "executor/verify.h"

namespace paddle_mini {

// The error of a complete step, with its operator in the message; the step's kernels do not know of it.
struct NonFiniteOutput : OpError {
  using OpError::OpError;
};

// Threads may use it at the same time.
class FiniteCheck {
 public:
  explicit FiniteCheck(bool infinities) : infinities_(infinities) {}

  // The number of the run, among those of this program in this scope since the check was made; from 1 on.
  int64_t begin_run(const std::shared_ptr<const VerifiedProgram>& program, const std::shared_ptr<Scope>& scope);
  // OpError, which names the variable and the run, if a float tensor in host memory has NaN, or infinities where they
  // are refused too.
  void require_finite(const Tensor& tensor, const std::string& port, const std::string& name, int64_t run) const;

 private:
  bool infinities_;
  std::mutex mutex_;
  std::map<std::pair<std::shared_ptr<const VerifiedProgram>, std::shared_ptr<Scope>>, int64_t> runs_;
};

}  // namespace paddle_mini
