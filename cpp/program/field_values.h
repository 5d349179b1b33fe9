// Converts fields of messages from and to C++ values, one C++ type per field type.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>

#include "program/message.h"

namespace paddle_mini::wire {

template <class T>
struct List : std::false_type {};
template <class T>
struct List<std::vector<T>> : std::true_type {
  using Element = T;
};

ScalarValue read_scalar(const Message* m);
Message* write_scalar(const ScalarValue& scalar, upb_Arena* arena);

template <class T>
T from(Value v) {
  if constexpr (std::is_same_v<T, bool>) return v.bool_val;
  else if constexpr (std::is_same_v<T, int32_t>) return v.int32_val;
  else if constexpr (std::is_same_v<T, int64_t>) return v.int64_val;
  else if constexpr (std::is_same_v<T, float>) return v.float_val;
  else if constexpr (std::is_same_v<T, double>) return v.double_val;
  else if constexpr (std::is_same_v<T, std::string>) return string_of(v);
  else if constexpr (std::is_same_v<T, BlockIndex>) return BlockIndex{v.int32_val};
  else if constexpr (std::is_same_v<T, VarName>) return VarName{string_of(v)};
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return {get(v.msg_val, format().complex_r).double_val, get(v.msg_val, format().complex_i).double_val};
  else return read_scalar(v.msg_val);
}

// Strings are not copied: `x` must live until the message is written.
template <class T>
Value to(const T& x, upb_Arena* arena) {
  Value v{};
  if constexpr (std::is_same_v<T, bool>) v.bool_val = x;
  else if constexpr (std::is_same_v<T, int32_t>) v.int32_val = x;
  else if constexpr (std::is_same_v<T, int64_t>) v.int64_val = x;
  else if constexpr (std::is_same_v<T, float>) v.float_val = x;
  else if constexpr (std::is_same_v<T, double>) v.double_val = x;
  else if constexpr (std::is_same_v<T, std::string>) v.str_val = {x.data(), x.size()};
  else if constexpr (std::is_same_v<T, BlockIndex>) v.int32_val = x.index;
  else if constexpr (std::is_same_v<T, VarName>) v.str_val = {x.name.data(), x.name.size()};
  else if constexpr (std::is_same_v<T, std::complex<double>>) {
    Message* m = parse({}, format().complex, arena);
    upb_Message_SetFieldByDef(m, format().complex_r.def, to(x.real(), arena), arena);
    upb_Message_SetFieldByDef(m, format().complex_i.def, to(x.imag(), arena), arena);
    v.msg_val = m;
  } else v.msg_val = write_scalar(x, arena);
  return v;
}

// Reads a field, a list or a single value, as T.
template <class T>
T read(const Message* m, Field f) {
  if constexpr (List<T>::value) {
    T list;
    const upb_Array* array = get(m, f).array_val;
    const size_t size = array ? upb_Array_Size(array) : 0;
    list.reserve(size);
    for (size_t i = 0; i < size; ++i) { list.push_back(from<typename List<T>::Element>(upb_Array_Get(array, i))); }
    return list;
  } else {
    return from<T>(get(m, f));
  }
}

inline upb_Array* new_list(Message* m, Field f, upb_Arena* arena) {
  clear(m, f);
  return checked(upb_Message_Mutable(m, f.def, arena).array);
}

template <class T>
void write(Message* m, Field f, const T& value, upb_Arena* arena) {
  if constexpr (List<T>::value) {
    if (value.empty()) return clear(m, f);
    upb_Array* array = new_list(m, f, arena);
    for (size_t i = 0; i < value.size(); ++i) {
      checked(upb_Array_Append(array, to<typename List<T>::Element>(value[i], arena), arena));
    }
  } else {
    const Value v = to(value, arena);
    upb_Message_SetBaseField(m, f.place, &v);
  }
}

template <class T>
T take(Message* m, Field f) {
  T value = read<T>(m, f);
  clear(m, f);
  return value;
}

// Reads an optional field with a default into `to`. A default that the file states explicitly stays in the message, so
// encoding writes it again.
template <class T>
void take_unless_default(Message* m, Field f, T* to) {
  if (has(m, f) && read<T>(m, f) != *to) *to = take<T>(m, f);
}

template <class T>
void write_unless(const T& absent, Message* m, Field f, const T& value, upb_Arena* arena) {
  if (value != absent) {
    write(m, f, value, arena);
  } else if (has(m, f) && read<T>(m, f) != absent) {
    clear(m, f);
  }
}

template <class T>
void take_optional(Message* m, Field f, std::optional<T>* to) {
  if (has(m, f)) *to = take<T>(m, f);
}

template <class T>
void write_optional(Message* m, Field f, const std::optional<T>& value, upb_Arena* arena) {
  if (value) write(m, f, *value, arena);
}

// Names are passed to C interfaces and file systems, which would truncate them at a NUL.
inline void check_name(const std::string& name) {
  if (name.find('\0') == std::string::npos) return;
  fail<ProgramError>("the name '", printable(name), "' contains a NUL byte");
}

inline std::string read_name(const Message* m, Field f) {
  std::string name = read<std::string>(m, f);
  check_name(name);
  return name;
}

// Throws if a name occurs twice with different meanings. PaddlePaddle writes some attributes twice (use_mkldnn of
// reshape2) with the same value.
template <class Thing, class Same>
void refuse_two_meanings(const std::vector<Thing>& things, const char* what, Same same) {
  std::vector<const Thing*> sorted;
  for (const Thing& thing : things) sorted.push_back(&thing);
  std::sort(sorted.begin(), sorted.end(), [](const Thing* a, const Thing* b) { return a->name < b->name; });
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i - 1]->name != sorted[i]->name || same(*sorted[i - 1], *sorted[i])) continue;
    fail<ProgramError>(what, " '", printable(sorted[i]->name), "' occurs twice");
  }
}

// Checks that only the payload of `type` is present; an empty list may be absent.
template <size_t N>
void check_payload(const Message* m, const std::array<Field, N>& payload, size_t type, const char* type_name) {
  const auto is_present = [&](Field f) { return f.is_list() ? size_of_list(m, f) > 0 : has(m, f); };
  for (size_t i = 0; i < N; ++i) {
    if (i == type || !is_present(payload[i])) continue;
    fail<ProgramError>("is ", type_name, " but has a value in ", payload[i].name());
  }
  if (payload[type].is_list() || has(m, payload[type])) return;
  fail<ProgramError>("is ", type_name, " but has no value in ", payload[type].name());
}

template <class Variant, size_t... I>
Variant read_payload(const Message* m, const std::array<Field, sizeof...(I)>& payload, size_t type,
                     std::index_sequence<I...>) {
  Variant value;
  ((I == type && (value.template emplace<I>(read<std::variant_alternative_t<I, Variant>>(m, payload[I])), true)) ||
   ...);
  return value;
}

inline ScalarValue read_scalar(const Message* m) {
  const auto& f = format();
  const size_t type = static_cast<size_t>(get(m, f.scalar_type).int32_val - 1);
  static const char* const names[] = {"a BOOLEAN scalar", "a LONG scalar", "a FLOAT64 scalar", "a COMPLEX128 scalar"};
  check_payload(m, f.scalar_payload, type, names[type]);
  require<ProgramError>(!upb_Message_HasUnknown(m), "has a scalar with fields of a later format");
  return read_payload<ScalarValue>(m, f.scalar_payload, type, std::make_index_sequence<4>());
}

inline Message* write_scalar(const ScalarValue& scalar, upb_Arena* arena) {
  const auto& f = format();
  Message* m = parse({}, f.scalar, arena);
  write(m, f.scalar_type, static_cast<int32_t>(scalar.index() + 1), arena);
  std::visit([&](const auto& x) { write(m, f.scalar_payload[scalar.index()], x, arena); }, scalar);
  return m;
}

}  // namespace paddle_mini::wire
