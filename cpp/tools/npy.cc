// Parses and writes the header of an .npy file, a Python dict: {'descr': '<f4', 'fortran_order': False, 'shape': (2,
// 3), }
#include "tools/npy.h"

#include <algorithm>
#include <cstring>

#include "program/files.h"
#include "program/tensor_file.h"

namespace paddle_mini {
namespace {

constexpr const char kMagic[] = "\x93NUMPY";

struct Row {
  const char* descr;
  DType dtype;
};
constexpr Row kDescrs[] = {{"<f4", DType::Float32}, {"<f8", DType::Float64}, {"<i4", DType::Int32},
                           {"<i8", DType::Int64},   {"|b1", DType::Bool},    {"|u1", DType::UInt8},
                           {"|i1", DType::Int8},    {"<i2", DType::Int16},   {"<f2", DType::Float16}};

DType dtype_of_descr(const std::string& descr) {
  for (const Row& row : kDescrs) {
    if (descr == row.descr) return row.dtype;
  }
  fail<ProgramError>("element type '", printable(descr), "' is not supported");
}

constexpr const char kDigits[] = "0123456789";

void require_well_formed(bool fine) { require<ProgramError>(fine, "the header is malformed"); }

// The header from the value of a key on.
std::string_view value_of(std::string_view header, std::string_view key) {
  size_t at = header.find(key);
  require_well_formed(at != std::string_view::npos);
  at = header.find_first_not_of(' ', at + key.size());
  require_well_formed(at != std::string_view::npos);
  return header.substr(at);
}

// The text from its first character, `open`, to `close`, without them.
std::string inside(std::string_view text, char open, char close) {
  size_t end = text.find(close, 1);
  require_well_formed(text.front() == open && end != std::string_view::npos);
  return std::string(text.substr(1, end - 1));
}

// The shape from the text between its parentheses: "", "3,", "2, 3", or "2, 3,".
Shape shape_of(const std::string& dims) {
  Shape shape;
  for (size_t at = dims.find_first_not_of(' '); at != std::string::npos;) {
    size_t end = std::min(dims.find_first_not_of(kDigits, at), dims.size());
    require_well_formed(end > at);
    require<ProgramError>(end - at <= 15, "the shape (", dims, ") is too large");
    shape.push_back(std::stoll(dims.substr(at, end - at)));
    at = dims.find_first_not_of(' ', end);
    bool last = at == std::string::npos;
    require_well_formed(last ? shape.rank() > 1 : dims[at] == ',');
    if (!last) at = dims.find_first_not_of(' ', at + 1);
  }
  return shape;
}

Tensor parse(std::string_view bytes) {
  require<ProgramError>(bytes.size() >= 12 && bytes.substr(0, 6) == std::string_view(kMagic, 6),
                        "this is not an .npy file");
  bool wide = bytes[6] > 1;  // from version 2 on the header's length has four bytes
  uint32_t length = 0;
  std::memcpy(&length, &bytes[8], wide ? 4 : 2);
  size_t begin = wide ? 12 : 10;
  require<ProgramError>(length <= bytes.size() - begin && length <= 4096, "the file is cut off in its header");
  std::string_view header = bytes.substr(begin, length);
  std::string_view fortran = value_of(header, "'fortran_order':");
  require<ProgramError>(fortran.substr(0, 4) != "True",
                        "the array is in Fortran order: save it with numpy.ascontiguousarray");
  require_well_formed(fortran.substr(0, 5) == "False");
  DType dtype = dtype_of_descr(inside(value_of(header, "'descr':"), '\'', '\''));
  Shape shape = shape_of(inside(value_of(header, "'shape':"), '(', ')'));
  size_t size = static_cast<size_t>(shape.numel()) * size_of(dtype), data = begin + length;
  require<ProgramError>(bytes.size() - data == size, "the array ", shape.str(), " has ", size, " bytes, the file ",
                        bytes.size() - data);
  Tensor tensor = new_tensor(dtype, shape);
  if (size) std::memcpy(tensor.data, &bytes[data], size);
  return tensor;
}

}  // namespace

Tensor read_npy(const std::string& path) { return from_file(path, parse); }

void write_npy(const std::string& path, const Tensor& tensor) {
  std::string descr;
  for (const Row& row : kDescrs) {
    if (row.dtype == tensor.dtype) descr = row.descr;
  }
  require<ProgramError>(!descr.empty(), name_of(tensor.dtype), " can't be written as .npy");
  std::string shape;
  for (int64_t dim : tensor.shape) shape += std::to_string(dim) + ", ";
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');  // the data begin at a multiple of 64
  header += '\n';
  std::string bytes(kMagic, 6);
  bytes += {1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  bytes += header;
  bytes.append(static_cast<const char*>(tensor.data), tensor.bytes());
  write_file(path, bytes);
}

}  // namespace paddle_mini
