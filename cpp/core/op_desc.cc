// Implements OpDesc: lookup by name, printing and conversion of attributes, and the source line that added an operator.
#include "core/op_desc.h"

#include <locale.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/error.h"

namespace paddle_mini {
namespace {

template <class T>
struct List : std::false_type {};
template <class T>
struct List<std::vector<T>> : std::true_type {
  using Element = T;
};

constexpr size_t kShownElements = 32;  // in a list; more would make the message unreadable

template <class T>
std::string show_number(T x) {
  char shortest[64];
  const auto end = std::to_chars(shortest, shortest + sizeof(shortest), x).ptr;
  return std::string(shortest, end);
}

template <class T>
std::string show_one(const T& x) {
  if constexpr (std::is_same_v<T, bool>) return x ? "true" : "false";
  else if constexpr (std::is_same_v<T, std::string>) return "'" + printable(x) + "'";
  else if constexpr (std::is_same_v<T, BlockIndex>) return text("block ", x.index);
  else if constexpr (std::is_same_v<T, VarName>) return "variable '" + printable(x.name) + "'";
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return "(" + show_number(x.real()) + (std::signbit(x.imag()) ? "" : "+") + show_number(x.imag()) + "j)";
  else if constexpr (std::is_same_v<T, ScalarValue>)
    return std::visit([](const auto& number) { return show_one(number); }, x);
  else return show_number(x);
}

template <class T>
std::string show_any(const T& x) {
  if constexpr (List<T>::value) {
    std::string shown = "[";
    for (size_t i = 0; i < x.size() && i < kShownElements; ++i) {
      shown += (i ? ", " : "") + show_one<typename List<T>::Element>(x[i]);
    }
    if (x.size() > kShownElements) shown += text(", ... ", x.size(), " in all");
    return shown + "]";
  } else {
    return show_one(x);
  }
}

// Whether an attribute of one type may be given as the other.
template <class From, class To>
constexpr bool is_convertible() {
  constexpr bool numbers = std::is_arithmetic_v<From> && std::is_arithmetic_v<To>;
  constexpr bool widens = std::is_floating_point_v<To> || std::is_integral_v<From>;
  constexpr bool a_bool = std::is_same_v<From, bool> || std::is_same_v<To, bool>;
  constexpr bool bool_and_int = std::is_same_v<From, int32_t> || std::is_same_v<To, int32_t>;
  if constexpr (std::is_same_v<From, To>) return true;
  else return numbers && widens && (!a_bool || bool_and_int);
}

// Converts `from` if `To` can hold it. A double is rounded to a float, since Python has only doubles, unless it exceeds
// the largest float. An integer that no float represents exactly is rejected.
template <class From, class To>
bool convert_one(const From& from, To* to) {
  if constexpr (std::is_same_v<From, To>) {
    *to = from;
    return true;
  } else if constexpr (std::is_integral_v<To>) {  // then From is integral, too
    *to = static_cast<To>(from);
    return static_cast<From>(*to) == from;
  } else if constexpr (std::is_integral_v<From>) {
    *to = static_cast<To>(from);
    // Rounded up, the float may exceed the range of From, and that of int64 if it is 2^63: casting it there would be undefined.
    return *to < static_cast<To>(9223372036854775808.0) && static_cast<int64_t>(*to) == static_cast<int64_t>(from);
  } else {
    if (std::isfinite(from) &&
        std::abs(static_cast<double>(from)) > static_cast<double>(std::numeric_limits<To>::max())) {
      return false;
    }
    *to = static_cast<To>(from);
    return true;
  }
}

enum class Outcome { Converted, WrongType, Lossy };

template <class From, class To>
Outcome convert_any(const From& from, To* to) {
  if constexpr (List<From>::value && List<To>::value) {
    using FromElement = typename List<From>::Element;
    using ToElement = typename List<To>::Element;
    if (from.empty()) return Outcome::Converted;  // an empty list in a file has lost its type
    if constexpr (is_convertible<FromElement, ToElement>()) {
      for (size_t i = 0; i < from.size(); ++i) {
        ToElement element{};
        if (!convert_one<FromElement, ToElement>(from[i], &element)) return Outcome::Lossy;
        to->push_back(std::move(element));
      }
      return Outcome::Converted;
    }
  } else if constexpr (is_convertible<From, To>()) {
    return convert_one(from, to) ? Outcome::Converted : Outcome::Lossy;
  }
  return Outcome::WrongType;
}

// The default value of alternative `type`.
template <size_t... I>
AttrValue value_of_type(size_t type, std::index_sequence<I...>) {
  AttrValue value;
  ((I == type && (value.emplace<I>(), true)) || ...);
  return value;
}

const std::vector<std::string>& arguments_of(const std::vector<Slot>& slots, const std::string& name) {
  static const std::vector<std::string> none;
  for (const Slot& slot : slots) {
    if (slot.name == name) return slot.arguments;
  }
  return none;
}

std::string trimmed(const std::string& line) {
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

// Returns "train.py:21" for `File "train.py", line 21, in <module>`, and "" for other lines.
std::string place_in(const std::string& line) {
  const std::string opening = "File \"", middle = "\", line ";
  const size_t end = line.rfind(middle);
  if (line.compare(0, opening.size(), opening) != 0 || end == std::string::npos || end < opening.size()) { return ""; }
  const size_t number = end + middle.size();
  const size_t after = std::min(line.find_first_not_of("0123456789", number), line.size());
  if (after == number) return "";
  return line.substr(opening.size(), end - opening.size()) + ":" + line.substr(number, after - number);
}

}  // namespace

Attr::Attr() = default;
Attr::Attr(std::string name, AttrValue value) : name(std::move(name)), value(std::move(value)) {}
Attr::Attr(const Attr&) = default;
Attr::Attr(Attr&&) noexcept = default;
Attr& Attr::operator=(const Attr&) = default;
Attr& Attr::operator=(Attr&&) noexcept = default;
Attr::~Attr() = default;

Slot::Slot() = default;
Slot::Slot(std::string name, std::vector<std::string> arguments)
    : name(std::move(name)), arguments(std::move(arguments)) {}
Slot::Slot(const Slot&) = default;
Slot::Slot(Slot&&) noexcept = default;
Slot& Slot::operator=(const Slot&) = default;
Slot& Slot::operator=(Slot&&) noexcept = default;
Slot::~Slot() = default;

OpDesc::OpDesc() = default;
OpDesc::OpDesc(const OpDesc&) = default;
OpDesc::OpDesc(OpDesc&&) noexcept = default;
OpDesc& OpDesc::operator=(const OpDesc&) = default;
OpDesc& OpDesc::operator=(OpDesc&&) noexcept = default;
OpDesc::~OpDesc() = default;

const char* name_of(AttrType type) {
  static const char* const names[] = {"INT",      "FLOAT",    "STRING", "INTS",    "FLOATS", "STRINGS",
                                      "BOOLEAN",  "BOOLEANS", "BLOCK",  "LONG",    "BLOCKS", "LONGS",
                                      "FLOAT64S", "VAR",      "VARS",   "FLOAT64", "SCALAR", "SCALARS"};
  const auto number = static_cast<size_t>(type);
  return number < std::size(names) ? names[number] : "an unknown type";
}

std::string show(const AttrValue& value) {
  return std::visit([](const auto& x) { return show_any(x); }, value);
}

AttrValue convert(const AttrValue& value, AttrType to, const std::string& what) {
  if (type_of(value) == to) return value;
  AttrValue converted =
      value_of_type(static_cast<size_t>(to), std::make_index_sequence<std::variant_size_v<AttrValue>>());
  const Outcome outcome = std::visit([](const auto& x, auto& y) { return convert_any(x, &y); }, value, converted);
  require<ProgramError>(outcome != Outcome::WrongType, "attribute '", printable(what), "' is ", name_of(type_of(value)),
                        ", expected ", name_of(to));
  require<ProgramError>(outcome != Outcome::Lossy, "attribute '", printable(what), "' is ", show(value), ", which ",
                        name_of(to), " cannot hold");
  return converted;
}

const std::vector<std::string>& OpDesc::input(const std::string& slot) const { return arguments_of(inputs, slot); }

const std::vector<std::string>& OpDesc::output(const std::string& slot) const { return arguments_of(outputs, slot); }

const AttrValue* OpDesc::attr(const std::string& name) const {
  for (const Attr& attr : attrs) {
    if (attr.name == name) return &attr.value;
  }
  return nullptr;
}

void OpDesc::set_attr(const std::string& name, AttrValue value) {
  bool found = false;
  for (Attr& attr : attrs) {  // PaddlePaddle writes some attributes twice: change both
    if (attr.name != name) continue;
    attr.value = value;
    found = true;
  }
  if (!found) attrs.push_back({name, std::move(value)});
}

double number_in(const std::string& name, const std::string& words) {
  // strtod reads "0.5" as 0 in a program that has set the locale of a country with a decimal comma.
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  char* end = nullptr;
  double number = strtod_l(words.c_str(), &end, plain);
  require<ProgramError>(!words.empty() && end == words.c_str() + words.size(), "attribute '", name, "' is '",
                        printable(words), "', which is not a number");
  return number;
}

std::string creation_site(const OpDesc& op) {
  const AttrValue* stack = op.attr("op_callstack");
  const auto* entries = stack ? std::get_if<std::vector<std::string>>(stack) : nullptr;
  if (!entries) return "";
  // Paddle 1.x wrote a frame as one entry of two lines, 2.x writes two entries: split all entries into lines.
  std::string lines;
  for (const std::string& entry : *entries) lines += entry + "\n";
  std::string site, site_of_user;
  std::string* open = nullptr;  // the frame whose source line comes next
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = lines.find('\n', begin);
    const std::string line = trimmed(lines.substr(begin, end - begin));
    begin = end + 1;
    const std::string place = place_in(line);
    if (!place.empty()) {
      open = place.find("site-packages") == std::string::npos ? &site_of_user : &site;
      *open = place;
    } else if (open) {
      if (!line.empty()) *open += ": " + line;
      open = nullptr;
    }
  }
  return printable(site_of_user.empty() ? site : site_of_user);
}

}  // namespace paddle_mini
