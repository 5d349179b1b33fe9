// Pickled states (.pdparams, .pdopt): dicts of NumPy arrays, read by a machine that knows the operations of such files and
// calls nothing. A global that a file names is data; only those by which arrays are written are admitted.
//
// A state of paddle_mini begins with a constant that is taken off the stack again, so that other readers ignore it:
//
//   PROTO 4 · "C\x0epm-crc32c:" · u32 CRC-32C of all that follows · POP · the pickled dict
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/state_array.h"

namespace paddle_mini {

struct PickledValue;
using Pickled = std::shared_ptr<PickledValue>;

struct PickledValue {
  enum class Kind {
    None,
    Bool,
    Integer,
    Real,
    Text,
    Bytes,
    Array,
    Scalar,  // an array without dimensions that NumPy writes as a number
    List,
    Tuple,
    Dict,
    // These occur on the way only.
    Mark,
    Name,  // a global
    Type,  // an element type
    Unfinished,  // an array without its state
  };
  explicit PickledValue(Kind k) : kind(k) {}

  Kind kind;
  bool latin1 = false;  // a text that Python 2 wrote, one byte a character; otherwise UTF-8
  int depth = 0;  // containers inside each other, this one included
  int64_t integer = 0;  // also for Bool
  double real = 0;
  std::string_view view;  // Text, Bytes, Name and Type; in the file or in `kept`
  std::shared_ptr<const std::string> kept;
  StateArray array;  // Array and Scalar
  std::vector<Pickled> items;  // List and Tuple; Dict: key, value, key, value
  std::set<std::string> keys;  // Dict
};

// The dict that the bytes hold, whose keys are texts. Arrays refer to the bytes. Throws ProgramError if they are cut off,
// damaged, continue after their end, hold anything other than arrays, numbers, texts, lists, tuples and dicts, or nest or
// refer to themselves as no state does.
Pickled read_pickle(std::string_view file);

// A tensor that is written in slices, because it has more than 1 GiB, becomes one array; the table of PaddlePaddle's
// layers is removed. variable_names: arrays get the names of variables that this table has (linear_0.w_0 for 0.weight).
void join_state(PickledValue& state, bool variable_names);

// Whether the file has a checksum. Throws ProgramError if it does not match.
bool pickle_is_checked(std::string_view file);

std::string utf8_of(const PickledValue& text);

namespace pickled {  // pickled_values.cc: values that the machine composes

constexpr size_t kFrontBytes = 14 + 4 + 1;  // the checksum at the front: mark, value, POP

// Bytes that Python 2 wrote as text are bytes here.
std::string_view bytes_of(PickledValue& value);
// The result of calling a global: a dict, bytes, a number, or an element type or array without its state.
Pickled made(const Pickled& global, const Pickled& arguments);
// Gives an element type its byte order, or an array its shape and elements.
void finish(PickledValue& made, const Pickled& state);

}  // namespace pickled
}  // namespace paddle_mini
