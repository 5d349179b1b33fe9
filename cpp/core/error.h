// Error types. Every failure is one of these exceptions, described in the user's terms; no function returns a status.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace paddle_mini {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The program is invalid: bytes, structure, unknown operator, missing port or bad attribute.
class ProgramError : public Error {
 public:
  using Error::Error;
};

// Two shapes or dtypes disagree.
class ShapeError : public Error {
 public:
  using Error::Error;
};

// An operator can't compute with its data: an id out of range, a variable without a value.
class OpError : public Error {
 public:
  using Error::Error;
};

// A device or its kernel is missing, or memory is exhausted.
class DeviceError : public Error {
 public:
  using Error::Error;
};

// The user stopped the run (Ctrl-C); the scope holds the result of a complete step.
class Interrupted : public Error {
 public:
  using Error::Error;
};

// Concatenates its arguments in stream format: text(1, " of ", 2) is "1 of 2".
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

// Makes a name from a file printable: replaces control bytes by '?' and truncates long names.
std::string printable(const std::string& name, size_t limit = 200);

}  // namespace paddle_mini
