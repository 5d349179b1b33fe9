// UserCode: kernels that run code of the user, which may throw at any run. Cause: what it threw.
#pragma once

#include <memory>
#include <string>
#include <utility>

namespace paddle_mini {

// A gradient of the package refuses no data that its forward operator has accepted (executor/undo_plan.cc); for code of
// the user nothing follows from the forward operator. A Kernel class may inherit this too.
class UserCode {
 public:
  virtual ~UserCode() = default;
};

// Errors of such kernels are of a class Caused<OpError>, which is an OpError and a Cause: it keeps the exception of the
// user's language, for those who know its type.
class Cause {
 public:
  explicit Cause(std::shared_ptr<void> exception) : exception_(std::move(exception)) {}
  virtual ~Cause() = default;
  void* exception() const { return exception_.get(); }

 private:
  std::shared_ptr<void> exception_;
};

template <class ErrorType>
class Caused : public ErrorType, public Cause {
 public:
  Caused(const std::string& message, Cause cause) : ErrorType(message), Cause(std::move(cause)) {}
};

// Throws an error of this type with the cause of `from`, if that has one.
template <class ErrorType>
[[noreturn]] void throw_as(const std::string& message, const ErrorType& from) {
  if (auto* cause = dynamic_cast<const Cause*>(&from)) throw Caused<ErrorType>(message, *cause);
  throw ErrorType(message);
}

}  // namespace paddle_mini
