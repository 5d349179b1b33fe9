// The values that pickled states compose: element types, arrays, NumPy's numbers.
#include <algorithm>
#include <cstring>

#include "program/checksum.h"
#include "program/pickle.h"

namespace paddle_mini {
namespace {

constexpr std::string_view kMark(
    "\x80\x04"
    "C\x0epm-crc32c:",
    14);

}  // namespace

std::string utf8_of(const PickledValue& value) {
  if (!value.latin1) return std::string(value.view);
  std::string utf8;
  for (char character : value.view) {
    auto code = static_cast<unsigned char>(character);
    if (code >= 0x80) utf8 += static_cast<char>(0xc0 | code >> 6);
    utf8 += static_cast<char>(code >= 0x80 ? 0x80 | (code & 0x3f) : code);
  }
  return utf8;
}

bool pickle_is_checked(std::string_view file) {
  constexpr size_t kBegin = pickled::kFrontBytes - 1;  // POP is there
  if (!is_marked(file, 0, kMark)) return false;
  if (file.size() < pickled::kFrontBytes)
    fail<ProgramError>("it is cut off, damaged or not pickled: its checksum is not whole");
  uint32_t expected;
  std::memcpy(&expected, &file[kMark.size()], sizeof expected);
  require<ProgramError>(expected == crc32c(file.substr(kBegin)),
                        "it is cut off or damaged: its checksum does not match");
  return true;
}

namespace pickled {
namespace {

using Kind = PickledValue::Kind;

// The bytes of a text whose characters are bytes.
std::string latin1_of(std::string_view utf8) {
  std::string bytes;
  for (size_t i = 0; i < utf8.size(); ++i) {
    auto byte = static_cast<unsigned char>(utf8[i]);
    if (byte < 0x80) {
      bytes += static_cast<char>(byte);
      continue;
    }
    bool two = (byte == 0xc2 || byte == 0xc3) && i + 1 < utf8.size() && (utf8[i + 1] & 0xc0) == 0x80;
    require<ProgramError>(two, "it is damaged: a text that holds bytes has other characters");
    bytes += static_cast<char>((byte & 3) << 6 | (utf8[++i] & 0x3f));
  }
  return bytes;
}

void require_form(bool holds, const PickledValue& global) {
  require<ProgramError>(holds, "it uses ", printable(std::string(global.view)), " as no array is written");
}

bool is_tuple(const Pickled& value, size_t size) { return value->kind == Kind::Tuple && value->items.size() == size; }

// Calls f(index of the element in row-major order) for each element of a column-major array.
template <class F>
void for_each_transposed(const std::vector<int64_t>& shape, size_t count, F f) {
  std::vector<size_t> place(shape.size(), 0), stride(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) stride[axis - 1] = stride[axis] * static_cast<size_t>(shape[axis]);
  size_t to = 0;
  for (size_t i = 0; i < count; ++i) {
    f(i, to);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      to += stride[axis];
      if (++place[axis] < static_cast<size_t>(shape[axis])) break;
      to -= stride[axis] * static_cast<size_t>(shape[axis]);
      place[axis] = 0;
    }
  }
}

// The elements in row-major order and in the byte order of this machine.
void arrange(StateArray& array, size_t item, bool column_major, bool big_endian) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files of parameters are little-endian");
  size_t number = array.type[0] == 'c' ? item / 2 : item;  // a complex one has two
  bool swapped = big_endian && number > 1, moved = column_major && array.shape.size() > 1;
  if (array.elements.empty() || !(swapped || moved)) return;
  std::string arranged(array.elements.size(), '\0');
  if (moved) {
    for_each_transposed(array.shape, arranged.size() / item, [&](size_t from, size_t to) {
      std::memcpy(&arranged[to * item], &array.elements[from * item], item);
    });
  } else {
    arranged = array.elements;
  }
  for (size_t i = 0; swapped && i < arranged.size(); i += number)
    std::reverse(arranged.begin() + static_cast<std::ptrdiff_t>(i),
                 arranged.begin() + static_cast<std::ptrdiff_t>(i + number));
  array.kept = std::make_shared<const std::string>(std::move(arranged));
  array.elements = *array.kept;
}

void set_array(PickledValue& target, Kind kind, const Pickled& shape, const Pickled& type, bool column_major,
               PickledValue& data) {
  std::string_view code = type->kind == Kind::Type ? type->view : "";
  size_t item = item_size(code);
  require<ProgramError>(item > 0 && type->integer, "an array has elements of '", printable(std::string(code)),
                        "', which are not numbers");
  StateArray array;
  array.type = code;
  bool fits = shape->kind == Kind::Tuple && shape->items.size() <= kMostDims;
  for (const Pickled& dim : shape->items) {
    fits = fits && dim->kind == Kind::Integer && dim->integer >= 0;
    if (fits) array.shape.push_back(dim->integer);
  }
  require<ProgramError>(fits, "an array has a shape that is not a tuple of at most ", kMostDims, " sizes");
  array.elements = bytes_of(data);
  array.kept = data.kept;
  require<ProgramError>(paddle_mini::bytes_of(array.shape, item) == array.elements.size(), "an array of shape ",
                        text_of(array.shape), " of type ", array.type, " has ", array.elements.size(), " bytes");
  arrange(array, item, column_major, type->integer == '>');
  target.kind = kind;
  target.array = std::move(array);
}

}  // namespace

std::string_view bytes_of(PickledValue& value) {
  require<ProgramError>(value.kind == Kind::Bytes || value.kind == Kind::Text,
                        "it is damaged: something else is where bytes must be");
  if (value.kind == Kind::Text && !value.latin1) {
    value.kept = std::make_shared<const std::string>(latin1_of(value.view));
    value.view = *value.kept;
    value.latin1 = true;
  }
  return value.view;
}

Pickled made(const Pickled& global, const Pickled& arguments) {
  require<ProgramError>(global->kind == Kind::Name && arguments->kind == Kind::Tuple,
                        "it is damaged: it calls what is not a name");
  std::string_view name = global->view;
  const auto& given = arguments->items;
  auto result = std::make_shared<PickledValue>(Kind::None);
  if (name == "collections.OrderedDict" && given.empty()) {
    result->kind = Kind::Dict;
    result->depth = 1;
  } else if (name == "builtins.bytes" && given.empty()) {
    result->kind = Kind::Bytes;
  } else if (name == "builtins.tuple") {
    require_form(given.size() == 1 && is_tuple(given[0], 2) && given[0]->items[0]->kind == Kind::Text &&
                     given[0]->items[1]->kind == Kind::Array,
                 *global);
    return given[0]->items[1];
  } else if (name == "_codecs.encode") {
    bool known = given.size() == 2 && given[0]->kind == Kind::Text && given[1]->kind == Kind::Text;
    require_form(known && (given[1]->view == "latin1" || given[1]->view == "latin-1"), *global);
    result->view = bytes_of(*given[0]);
    result->kept = given[0]->kept;
    result->kind = Kind::Bytes;
  } else if (name == "numpy.dtype") {
    require_form(!given.empty(), *global);
    result->view = bytes_of(*given[0]);
    result->kept = given[0]->kept;
    result->kind = Kind::Type;
  } else if (name == "numpy.core.multiarray.scalar") {
    require_form(given.size() == 2, *global);
    auto no_dims = std::make_shared<PickledValue>(Kind::Tuple);
    set_array(*result, Kind::Scalar, no_dims, given[0], false, *given[1]);
  } else {
    require_form(name == "numpy.core.multiarray._reconstruct" && !given.empty() && given[0]->kind == Kind::Name &&
                     given[0]->view == "numpy.ndarray",
                 *global);
    result->kind = Kind::Unfinished;
  }
  return result;
}

void finish(PickledValue& made, const Pickled& state) {
  bool type = made.kind == Kind::Type && !made.integer;
  require<ProgramError>(type || made.kind == Kind::Unfinished, "it gives a state to what is not an array");
  if (!type) {
    require<ProgramError>(is_tuple(state, 5), "it is damaged: the state of an array has other parts");
    const auto& parts = state->items;
    bool column_major = parts[3]->kind == Kind::Bool && parts[3]->integer;
    return set_array(made, Kind::Array, parts[1], parts[2], column_major, *parts[4]);
  }
  bool known = state->kind == Kind::Tuple && state->items.size() >= 5;
  std::string_view order = known ? bytes_of(*state->items[1]) : "";
  for (size_t i = 2; known && i < 5; ++i) known = state->items[i]->kind == Kind::None;
  require<ProgramError>(known && order.size() == 1 && std::strchr("<>|=", order[0]), "its element type '",
                        printable(std::string(made.view)), "' has fields");
  made.integer = order[0];
}

}  // namespace pickled
}  // namespace paddle_mini
