// Errors: what went wrong, in the user's terms. Every failure is one of these; none is a bool.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace paddle_mini {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The program itself is wrong: bytes, structure, unknown operator, missing port, bad attribute.
class ProgramError : public Error {
 public:
  using Error::Error;
};

// Two shapes or dtypes that should agree do not.
class ShapeError : public Error {
 public:
  using Error::Error;
};

// An operator met data that it cannot compute with: an id out of range, a variable without value.
class OpError : public Error {
 public:
  using Error::Error;
};

// A device, or a kernel for it, is not there; or memory is exhausted.
class DeviceError : public Error {
 public:
  using Error::Error;
};

// The user asked the run to stop (Ctrl-C); the scope holds a whole step.
class Interrupted : public Error {
 public:
  using Error::Error;
};

// Joins its arguments as a stream would: text(1, " of ", 2) is "1 of 2".
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

template <class ErrorType, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw ErrorType(text(parts...));
}

template <class ErrorType, class... Parts>
void require(bool condition, const Parts&... parts) {
  if (__builtin_expect(!condition, 0)) fail<ErrorType>(parts...);
}

// Names come from files: control bytes are shown as '?', and long ones are cut.
std::string printable(const std::string& name, size_t limit = 200);

}  // namespace paddle_mini
