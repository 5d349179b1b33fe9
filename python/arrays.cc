// Conversion of arrays: NumPy's, those of other libraries, and views of a scope's values.
#include <cstring>
#include <optional>

#include "core/scope.h"

#include "dlpack.h"
#include "module.h"

namespace paddle_mini::python {
namespace {

std::string type_name(const py::object& value) { return py::type::of(value).attr("__name__").cast<std::string>(); }

// NumPy has no bfloat16: an array of it holds the bits, as uint16.
struct ReadArray {
  py::array array;
  bool is_bfloat16;
};

// NumPy's element type; none for those that only other libraries have.
std::optional<py::dtype> dtype_of(const DLDataType& dtype) {
  bool whole = dtype.bits == 8 || dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64 ||
               (dtype.code == kDLComplex && dtype.bits == 128);
  if (dtype.lanes != 1 || !whole) return std::nullopt;
  std::string bytes = std::to_string(dtype.bits / 8);
  switch (dtype.code) {
    case kDLInt: return py::dtype("i" + bytes);
    case kDLUInt: return py::dtype("u" + bytes);
    case kDLFloat: return dtype.bits == 8 ? std::nullopt : std::optional(py::dtype("f" + bytes));
    case kDLBfloat: return dtype.bits == 16 ? std::optional(numpy_dtype(DType::BFloat16)) : std::nullopt;
    case kDLComplex: return dtype.bits > 32 ? std::optional(py::dtype("c" + bytes)) : std::nullopt;
    case kDLBool: return dtype.bits == 8 ? std::optional(py::dtype("bool")) : std::nullopt;
  }
  return std::nullopt;
}

template <class Managed>
std::optional<ReadArray> array_of(py::capsule tensor) {
  auto managed = tensor.get_pointer<Managed>();
  const DLTensor& held = managed->tensor;
  std::optional<py::dtype> dtype = dtype_of(held.dtype);
  if (!dtype) return std::nullopt;
  tensor.set_name(Managed::kUsedName);  // from here on the array releases the memory
  py::capsule owner(managed, [](void* owned) {
    auto done = static_cast<Managed*>(owned);
    if (done->deleter) done->deleter(done);
  });
  std::vector<py::ssize_t> shape(held.shape, held.shape + held.rank), strides;
  if (held.strides)
    for (int i = 0; i < held.rank; ++i) strides.push_back(held.strides[i] * dtype->itemsize());
  py::array array(*dtype, shape, strides, static_cast<char*>(held.data) + held.byte_offset, owner);
  if (!managed->writable()) array.attr("flags").attr("writeable") = false;
  return ReadArray{array, held.dtype.code == kDLBfloat};
}

// Libraries before version 1.0 of the protocol don't know max_version.
py::capsule capsule_of(const py::object& value) {
  try {
    return value.attr("__dlpack__")(py::arg("max_version") = py::make_tuple(1, 0));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return value.attr("__dlpack__")();
}

void require_on_host(const py::object& value, const std::string& what) {
  if (!py::hasattr(value, "__dlpack_device__")) return;
  auto [type, number] = value.attr("__dlpack_device__")().cast<std::pair<int32_t, int32_t>>();
  if (type == kDLCPU || type == kDLCUDAHost || type == kDLROCMHost) return;
  fail<ShapeError>(what, " is of type ", type_name(value), " in the memory of a device (DLPack type ", type,
                   ", number ", number,
                   "): copy it to the host first, as x.cpu() does in PyTorch and jax.device_get(x) in JAX");
}

// The memory of another library's tensor, without a copy; none if NumPy lacks its element type, or the library does not
// share it, such as one whose booleans are bits.
std::optional<ReadArray> shared_array(const py::object& value, const std::string& what) {
  require_on_host(value, what);
  try {
    py::capsule tensor = capsule_of(value);
    bool versioned = std::strcmp(tensor.name(), DLManagedTensorVersioned::kName) == 0;
    return versioned ? array_of<DLManagedTensorVersioned>(tensor) : array_of<DLManagedTensor>(tensor);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception) || !py::hasattr(value, "__array__")) throw;
  }
  return std::nullopt;
}

// The package ml_dtypes, whose element types JAX uses, adds bfloat16 to NumPy.
ReadArray read_by_numpy(const py::array& array) {
  bool is_bfloat16 = array.dtype().itemsize() == 2 && array.dtype().attr("name").cast<std::string>() == "bfloat16";
  return {is_bfloat16 ? py::array(array.attr("view")(numpy_dtype(DType::BFloat16))) : array, is_bfloat16};
}

ReadArray read(const py::object& value, const std::string& what, const py::object& dtype) {
  if (py::isinstance<py::array>(value)) return read_by_numpy(value);
  if (py::hasattr(value, "__dlpack__"))
    if (std::optional<ReadArray> shared = shared_array(value, what)) return *shared;
  return read_by_numpy(py::module_::import("numpy").attr("asarray")(value, dtype));
}

// The bits of a bfloat16 are the upper half of those of a float32.
py::array floats_of_bfloat16(const py::array& bits) {
  py::array wide =
      py::module_::import("numpy").attr("left_shift")(bits.attr("reshape")(-1).attr("astype")("uint32"), 16);
  return wide.attr("view")("float32").attr("reshape")(bits.attr("shape"));
}

}  // namespace

DType dtype_from_name(const std::string& name) {
  for (int32_t number = 0; number <= static_cast<int32_t>(DType::Complex128); ++number) {
    if (is_dtype(number) && name == name_of(static_cast<DType>(number))) return static_cast<DType>(number);
  }
  fail<ProgramError>("'", printable(name), "' is not an element type");
}

py::dtype numpy_dtype(DType dtype) {
  // NumPy has no bfloat16: its bits are passed as uint16.
  return py::dtype(dtype == DType::BFloat16 ? "uint16" : name_of(dtype));
}

DType dtype_from_numpy(const py::dtype& dtype, const std::string& what) {
  struct Row {
    char kind;
    py::ssize_t size;
    DType dtype;
  };
  static constexpr Row kTable[] = {{'f', 4, DType::Float32},  {'i', 8, DType::Int64},     {'f', 8, DType::Float64},
                                   {'i', 4, DType::Int32},    {'b', 1, DType::Bool},      {'u', 1, DType::UInt8},
                                   {'f', 2, DType::Float16},  {'i', 2, DType::Int16},     {'i', 1, DType::Int8},
                                   {'u', 2, DType::BFloat16}, {'c', 8, DType::Complex64}, {'c', 16, DType::Complex128}};
  bool native = dtype.byteorder() == '=' || dtype.byteorder() == '|';
  for (const Row& row : kTable) {
    if (native && dtype.kind() == row.kind && dtype.itemsize() == row.size) return row.dtype;
  }
  fail<ShapeError>("'", printable(what), "' is an array of ", py::str(dtype).cast<std::string>(),
                   ", which is not a supported element type");
}

Tensor view_of(const py::array& array, const std::string& what) {
  Tensor tensor;
  tensor.dtype = dtype_from_numpy(array.dtype(), what);
  require<ShapeError>(array.ndim() <= Shape::kMaxRank, "'", printable(what), "' has ", array.ndim(),
                      " dimensions; at most ", Shape::kMaxRank, " are supported");
  for (py::ssize_t i = 0; i < array.ndim(); ++i) tensor.shape.push_back(array.shape(i));
  tensor.data = const_cast<void*>(array.data());
  return tensor;
}

py::array copy_to_numpy(const Tensor& tensor) {
  py::array array(numpy_dtype(tensor.dtype), tensor.shape.vector());
  if (tensor.bytes()) std::memcpy(array.mutable_data(), on_host(tensor).data, tensor.bytes());
  return array;
}

py::object variable_to_python(const Variable& variable) {
  py::array values = copy_to_numpy(variable.tensor);
  if (!variable.is_rows()) return std::move(values);
  py::array_t<int64_t> rows(static_cast<py::ssize_t>(variable.rows.size()), variable.rows.data());
  return py::make_tuple(rows, values, variable.height);
}

py::array as_array(const py::object& value, const std::string& what, const py::object& dtype, bool bits) {
  try {
    ReadArray found = read(value, what, dtype);
    return found.is_bfloat16 && !bits ? floats_of_bfloat16(found.array) : found.array;
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception) ||
        py::isinstance(error.value(), py::module_::import("paddle_mini._core").attr("Error")))
      throw;
    fail<ShapeError>(what, " is of type ", type_name(value),
                     ", which can't be converted to an array: ", printable(py::str(error.value()).cast<std::string>()));
  }
}

bool is_masked(const py::object& value) {
  return py::isinstance(value, py::module_::import("numpy.ma").attr("MaskedArray"));
}

py::array view_of_value(Scope& scope, const std::string& name, const Variable& variable) {
  std::string shown = "'" + printable(name) + "'";
  const Tensor& tensor = variable.tensor;
  require<ShapeError>(variable.kind == VarKind::Tensor, shown, " is ", name_of(variable.kind),
                      ", which get() copies: leave out copy=False");
  require<DeviceError>(!tensor.device, shown, " is on ", name_of(place_of(tensor)),
                       ", from where get() copies it: leave out copy=False");
  auto bytes = std::make_unique<std::shared_ptr<const void>>(scope.share(tensor));
  const void* data = bytes->get();
  py::capsule owner(bytes.get(), [](void* held) { delete static_cast<std::shared_ptr<const void>*>(held); });
  bytes.release();
  py::array array(numpy_dtype(tensor.dtype), tensor.shape.vector(), data, owner);
  array.attr("flags").attr("writeable") = false;
  return array;
}

void define_arrays(py::module_& m) {
  m.def("as_array", &as_array, py::arg("value"), py::arg("what"), py::arg("dtype") = py::none(), py::arg("bits") = true,
        "The value as a NumPy array, which shares the memory of another library's array where its element type allows. "
        "ShapeError, which begins with `what`, for a tensor on a device, and for anything that is not an array. dtype: "
        "of "
        "numbers and lists. bits: bfloat16, which NumPy lacks, becomes its bits, as uint16; False: float32.");
}

}  // namespace paddle_mini::python
