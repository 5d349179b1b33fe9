// OpDesc: an operator as a program states it: type, ports with variable names, attributes. It does not depend on the
// executor.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace paddle_mini {

// The numbers are those of framework.proto's AttrType, and the index of AttrValue's alternatives.
enum class AttrType : int32_t {
  Int = 0,
  Float = 1,
  String = 2,
  Ints = 3,
  Floats = 4,
  Strings = 5,
  Boolean = 6,
  Booleans = 7,
  Block = 8,
  Long = 9,
  Blocks = 10,
  Longs = 11,
  Float64s = 12,
  Var = 13,
  Vars = 14,
  Float64 = 15,
  Scalar = 16,
  Scalars = 17,
};

struct BlockIndex {
  int32_t index = -1;
  bool operator==(const BlockIndex& o) const { return index == o.index; }
};
struct VarName {
  std::string name;
  bool operator==(const VarName& o) const { return name == o.name; }
};
using ScalarValue = std::variant<bool, int64_t, double, std::complex<double>>;

using AttrValue =
    std::variant<int32_t, float, std::string, std::vector<int32_t>, std::vector<float>, std::vector<std::string>, bool,
                 std::vector<bool>, BlockIndex, int64_t, std::vector<BlockIndex>, std::vector<int64_t>,
                 std::vector<double>, VarName, std::vector<VarName>, double, ScalarValue, std::vector<ScalarValue>>;

inline AttrType type_of(const AttrValue& value) { return static_cast<AttrType>(value.index()); }
const char* name_of(AttrType type);               // "INTS"
std::string show(const AttrValue& value);         // "[1, 2]", "0.5", "'NCHW'"

// Converts a value to another type if nothing is lost, as PaddlePaddle's reader does: INT to LONG or FLOAT, INTS to
// LONGS and so on. Throws ProgramError naming `what` otherwise.
AttrValue convert(const AttrValue& value, AttrType to, const std::string& what);

// The members that a compiler would define for these classes are defined in op_desc.cc: each operator's file would otherwise
// compile copies of it, and of those of a variant of eighteen types.
struct Attr {
  std::string name;
  AttrValue value;

  Attr();
  Attr(std::string name, AttrValue value);
  Attr(const Attr&);
  Attr(Attr&&) noexcept;
  Attr& operator=(const Attr&);
  Attr& operator=(Attr&&) noexcept;
  ~Attr();
};

struct Slot {
  std::string name;                    // "X"
  std::vector<std::string> arguments;  // names of variables

  Slot();
  Slot(std::string name, std::vector<std::string> arguments = {});
  Slot(const Slot&);
  Slot(Slot&&) noexcept;
  Slot& operator=(const Slot&);
  Slot& operator=(Slot&&) noexcept;
  ~Slot();
};

struct OpDesc {
  std::string type;
  std::vector<Slot> inputs;
  std::vector<Slot> outputs;
  std::vector<Attr> attrs;
  bool is_target = false;
  std::string unknown;  // fields of later format versions, unchanged

  OpDesc();
  OpDesc(const OpDesc&);
  OpDesc(OpDesc&&) noexcept;
  OpDesc& operator=(const OpDesc&);
  OpDesc& operator=(OpDesc&&) noexcept;
  ~OpDesc();

  // Arguments of a port; empty if the slot is absent.
  const std::vector<std::string>& input(const std::string& slot) const;
  const std::vector<std::string>& output(const std::string& slot) const;
  const AttrValue* attr(const std::string& name) const;  // nullptr if absent
  void set_attr(const std::string& name, AttrValue value);
};

// The number that an attribute holds as text, which keeps it exact. ProgramError for other text.
double number_in(const std::string& name, const std::string& words);

// "added at train.py:21: y = ..." from the op_callstack attribute, or "".
std::string creation_site(const OpDesc& op);

inline constexpr const char* kEmptyName = "@EMPTY@";   // a hole in a list of names
inline constexpr const char* kGradSuffix = "@GRAD";

}  // namespace paddle_mini
