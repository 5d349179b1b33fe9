// Arrays of callers as tensors.
#include "capi/tensors.h"

#include <cstring>

#include "core/outside_values.h"

namespace paddle_mini::capi {
namespace {

constexpr size_t kMostLevels = 8;  // as in a program

// Every call checks its arrays: the name for the message is made only where a check fails.
template <class ErrorType = ShapeError, class... Parts>
void require_of(const std::string& name, bool condition, const Parts&... parts) {
  if (__builtin_expect(!condition, 0)) fail<ErrorType>("'", printable(name), "'", parts...);
}

// Runs f; its errors, of sizes that no machine has, get the name.
template <class F>
auto with_name(const std::string& name, F f) -> decltype(f()) {
  try {
    return f();
  } catch (const ShapeError& error) {
    fail<ShapeError>("'", printable(name), "': ", error.what());
  } catch (const DeviceError& error) { fail<DeviceError>("'", printable(name), "': ", error.what()); }
}

Tensor new_tensor_for(const std::string& name, const Tensor& like) {
  return with_name(name, [&] { return new_tensor(like.dtype, like.shape); });
}

Shape shape_of(const pm_tensor& given, const std::string& name) {
  bool fits = given.rank >= 0 && given.rank <= PM_MOST_DIMS;
  require_of(name, fits, " has ", given.rank, " dimensions; at most ", static_cast<int>(PM_MOST_DIMS),
             " are supported");
  Shape shape;
  for (int i = 0; i < given.rank; ++i) {
    require_of(name, given.shape[i] >= 0, ": dimension ", i, " is ", given.shape[i]);
    shape.push_back(given.shape[i]);
  }
  with_name(name, [&] { return shape.numel(); });
  return shape;
}

// The elements from the first one to the last one that the strides reach. ShapeError if no memory has so many.
size_t reach_of(const pm_tensor& given, const Shape& shape, const std::string& name) {
  constexpr int64_t kMost = int64_t{1} << 56;
  if (shape.numel() == 0) return 0;
  int64_t reach = 1;
  for (int i = 0; i < given.rank; ++i) {
    int64_t stride = given.strides[i], steps = shape[i] - 1;
    require_of(name, stride >= 0, ": stride ", i, " is ", stride, ", it must be at least 0");
    bool small = steps == 0 || stride <= (kMost - reach) / steps;
    require_of(name, small, ": stride ", i, " is ", stride, ", which no memory has");
    reach += steps * stride;
  }
  return static_cast<size_t>(reach);
}

bool is_contiguous(const pm_tensor& given, const Shape& shape) {
  if (!given.strides || shape.numel() == 0) return true;
  int64_t expected = 1;
  for (int i = given.rank - 1; i >= 0; --i) {
    if (shape[i] != 1 && given.strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

void copy_strided(const pm_tensor& given, const Tensor& to) {
  size_t element = size_of(to.dtype);
  int64_t index[PM_MOST_DIMS] = {};
  auto from = static_cast<const char*>(given.data);
  auto out = static_cast<char*>(to.data);
  for (int64_t n = to.shape.numel(); n > 0; --n, out += element) {
    int64_t offset = 0;
    for (int i = 0; i < given.rank; ++i) offset += index[i] * given.strides[i];
    std::memcpy(out, from + static_cast<size_t>(offset) * element, element);
    for (int i = given.rank - 1; i >= 0 && ++index[i] == to.shape[i]; --i) index[i] = 0;
  }
}

Lod lod_of(const pm_tensor& given, const Tensor& tensor, const std::string& name) {
  require_of(name, given.lod_levels <= kMostLevels, " has ", given.lod_levels, " levels of sequences, at most ",
             kMostLevels, " are supported");
  Lod lod;
  for (size_t i = 0; i < given.lod_levels; ++i) {
    require_of<ArgumentError>(name, given.lod, ": lod is NULL");
    const pm_level& level = given.lod[i];
    require_of<ArgumentError>(name, level.offsets || level.count == 0, ": offsets of lod is NULL");
    require_of(name, level.count <= SIZE_MAX / 16, ": level ", i, " has ", level.count, " offsets");
    lod.emplace_back(level.offsets, level.offsets + level.count);
  }
  check_lod(lod, tensor.shape, name);
  return lod;
}

// A view of the array, without its sequences.
Tensor view_of(const pm_tensor& given, const std::string& name) {
  require_of(name, is_dtype(given.dtype), " has element type ", given.dtype, ", which does not exist");
  Tensor tensor;
  tensor.dtype = static_cast<DType>(given.dtype);
  tensor.shape = shape_of(given, name);
  size_t element = size_of(tensor.dtype);
  size_t needed = given.strides ? reach_of(given, tensor.shape, name) * element : tensor.bytes();
  bool fits = given.strides ? given.bytes >= needed : given.bytes == needed;
  if (!fits) {
    require_of(name, false, " has ", given.bytes, " bytes, ", tensor.shape.str(), " ", name_of(tensor.dtype), " needs ",
               needed);
  }
  require_of<ArgumentError>(name, given.data || needed == 0, ": data is NULL");
  alignas(kAlignment) static char nothing[kAlignment];
  tensor.data = given.data ? const_cast<void*>(given.data) : nothing;
  return tensor;
}

}  // namespace

std::string text_of(const char* text, const char* what) { return &there(text, what); }

std::vector<std::string> names_of(const char* const* names, size_t count, const char* what) {
  std::vector<std::string> result;
  require<ArgumentError>(names || count == 0, what, " is NULL");
  for (size_t i = 0; i < count; ++i) result.push_back(text_of(names[i], what));
  return result;
}

Tensor tensor_of(const pm_tensor& given, const std::string& name) {
  Tensor tensor = view_of(given, name);
  if (!is_contiguous(given, tensor.shape)) {
    Tensor copy = new_tensor_for(name, tensor);
    copy_strided(given, copy);
    tensor = copy;
  } else if (reinterpret_cast<uintptr_t>(tensor.data) % size_of(tensor.dtype) != 0) {
    Tensor copy = new_tensor_for(name, tensor);
    std::memcpy(copy.data, tensor.data, tensor.bytes());
    tensor = copy;
  }
  if (given.lod_levels) tensor.lod = lod_of(given, tensor, name);
  return tensor;
}

std::vector<Tensor> tensors_of(const pm_tensor* given, size_t count, const std::vector<std::string>& names) {
  require<ProgramError>(count == names.size(), count, " arrays for ", names.size(), " feeds");
  std::vector<Tensor> tensors;
  tensors.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const pm_tensor& one = (&there(given, "the list of feeds"))[i];
    require_of(names[i], !one.rows && !one.height, " is selected rows, which are set in the scope and not fed");
    tensors.push_back(tensor_of(one, names[i]));
  }
  return tensors;
}

Variable variable_of(const pm_tensor& given, const std::string& name) {
  Tensor view = tensor_of(given, name);
  require_bools(view, name);
  if (given.rows || given.height || given.row_count) {
    if (given.row_count) there(given.rows, "rows");
    bool fits = view.shape.rank() > 0 && static_cast<uint64_t>(view.shape[0]) == given.row_count;
    require_of(name, fits, " has ", given.row_count, " rows, but values of shape ", view.shape.str());
    return selected_rows(name, {given.rows, given.rows + given.row_count}, view, given.height);
  }
  Variable variable;
  variable.tensor = new_tensor_for(name, view);
  if (view.bytes()) std::memcpy(variable.tensor.data, view.data, view.bytes());
  variable.tensor.lod = std::move(view.lod);
  return variable;
}

}  // namespace paddle_mini::capi
