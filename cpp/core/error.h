// Error types. Every failure is one of these exceptions, described in the user's terms; no function returns a status.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

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

// A part of a text: a string, a character or a number, in stream format.
class TextPart {
 public:
  TextPart(const char* text) : kind_(Kind::Text), text_(text) {}
  TextPart(const std::string& text) : kind_(Kind::Text), text_(text) {}
  TextPart(char character) : kind_(Kind::Character), natural_(static_cast<unsigned char>(character)) {}
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  TextPart(Number number) {
    if constexpr (std::is_floating_point_v<Number>) {
      kind_ = Kind::Real;
      real_ = number;
    } else if constexpr (std::is_signed_v<Number>) {
      kind_ = Kind::Integer;
      integer_ = number;
    } else {
      kind_ = Kind::Natural;
      natural_ = number;
    }
  }
  void append_to(std::string& text) const;

 private:
  enum class Kind { Text, Character, Integer, Natural, Real } kind_;
  union {
    std::string_view text_;
    int64_t integer_;
    uint64_t natural_;
    double real_;
  };
};

// Not templates of the parts' types: hundreds of messages would each instantiate one, which is most of the time that
// a small operator takes to compile.
std::string concatenate(std::initializer_list<TextPart> parts);

template <class ErrorType>
[[noreturn, gnu::cold, gnu::noinline]] void throw_text(std::initializer_list<TextPart> parts) {
  throw ErrorType(concatenate(parts));
}

// Concatenates its arguments: text(1, " of ", 2) is "1 of 2".
template <class... Parts>
std::string text(const Parts&... parts) {
  return concatenate({TextPart(parts)...});
}

template <class ErrorType, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw_text<ErrorType>({TextPart(parts)...});
}

template <class ErrorType, class... Parts>
void require(bool condition, const Parts&... parts) {
  if (__builtin_expect(!condition, 0)) fail<ErrorType>(parts...);
}

// Makes a name from a file printable: replaces control bytes by '?' and truncates long names.
std::string printable(const std::string& name, size_t limit = 200);

}  // namespace paddle_mini
