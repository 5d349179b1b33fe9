// Reads and writes parameter files. Sizes that a file claims are checked against its actual size before anything is
// allocated.
#include "program/tensor_file.h"

#include <algorithm>
#include <cstring>

#include "program/checksum.h"
#include "program/model_file.h"

namespace paddle_mini {
namespace {

constexpr size_t kLargestHeader = 256;  // larger than most headers: only reserves memory

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

class Reader {
 public:
  Reader(std::string_view bytes, size_t position) : bytes_(bytes), position_(position) {}

  template <class T>
  T number(const char* what) {
    T value;
    std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
    return value;
  }
  std::string_view take(uint64_t count, const char* what) {
    require<ProgramError>(count <= bytes_.size() - position_, "the file is cut off: ", what, " needs ", count,
                          " bytes, ", bytes_.size() - position_, " are left");
    std::string_view part = bytes_.substr(position_, count);
    position_ += count;
    return part;
  }
  size_t position() const { return position_; }

 private:
  std::string_view bytes_;
  size_t position_;
};

// Reads the offsets of one level, which start at 0 and never decrease.
std::vector<int64_t> read_level(Reader& reader) {
  auto size = reader.number<uint64_t>("a level's size");
  std::string_view bytes = reader.take(size, "a level");
  require<ProgramError>(size % 8 == 0 && size >= 8, "a level of sequence offsets has ", size, " bytes");
  std::vector<int64_t> offsets(size / 8);
  std::memcpy(offsets.data(), bytes.data(), size);
  bool rising = offsets[0] == 0 && std::is_sorted(offsets.begin(), offsets.end());
  require<ProgramError>(rising, "sequence offsets must start at 0 and never decrease");
  return offsets;
}

}  // namespace

void append_tensor(const Tensor& tensor, std::string& bytes) {
  append<uint32_t>(bytes, 0);
  append<uint64_t>(bytes, tensor.lod.size());
  for (const auto& level : tensor.lod) {
    append<uint64_t>(bytes, level.size() * 8);
    bytes.append(reinterpret_cast<const char*>(level.data()), level.size() * 8);
  }
  append<uint32_t>(bytes, 0);
  std::string desc = encode_tensor_desc({static_cast<int32_t>(tensor.dtype), tensor.shape.vector()});
  append<int32_t>(bytes, static_cast<int32_t>(desc.size()));
  bytes += desc;
  bytes.append(static_cast<const char*>(tensor.data), tensor.bytes());
}

Tensor read_tensor(std::string_view bytes, size_t& position) {
  Reader reader(bytes, position);
  Lod lod;
  auto version = reader.number<uint32_t>("a tensor's header");
  require<ProgramError>(version == 0, "a tensor's format version is ", version, ", only 0 is supported");
  auto levels = reader.number<uint64_t>("a tensor's header");
  require<ProgramError>(levels <= 8, "a tensor has ", levels, " levels of sequences");
  for (uint64_t i = 0; i < levels; ++i) lod.push_back(read_level(reader));
  version = reader.number<uint32_t>("a tensor's header");
  require<ProgramError>(version == 0, "a tensor's format version is ", version, ", only 0 is supported");
  auto size = reader.number<int32_t>("a tensor's description");
  require<ProgramError>(size > 0 && size <= 1024, "a tensor's description has ", size, " bytes");
  TensorDesc desc = decode_tensor_desc(reader.take(static_cast<uint64_t>(size), "a tensor's description"));
  require<ProgramError>(is_dtype(desc.dtype), "a tensor has elements of type ", type_name(desc.dtype),
                        ", which is not supported");
  Shape shape(desc.dims);
  require<ProgramError>(shape.known(), "a tensor in a file has shape ", shape.str());
  auto dtype = static_cast<DType>(desc.dtype);
  std::string_view data = reader.take(static_cast<uint64_t>(shape.numel()) * size_of(dtype), "a tensor's data");
  Tensor tensor = new_tensor(dtype, shape);
  if (!data.empty()) std::memcpy(tensor.data, data.data(), data.size());
  tensor.lod = std::move(lod);
  position = reader.position();
  return tensor;
}

std::vector<std::string> parameter_file_order(const ProgramDesc& program) {
  std::vector<std::string> names;
  require<ProgramError>(!program.blocks.empty(), "the program has no blocks");
  for (const VarDesc& var : program.blocks[0].vars) {
    if (var.persistable && static_cast<VarKind>(var.kind) == VarKind::Tensor) names.push_back(var.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::pair<std::string, Tensor>> read_parameters(std::string_view bytes, const ProgramDesc& program,
                                                            const std::vector<std::string>& names,
                                                            std::optional<uint32_t> checksum) {
  std::vector<std::pair<std::string, Tensor>> result;
  size_t position = 0;
  for (const std::string& name : names) {
    Tensor tensor;
    try {
      tensor = read_tensor(bytes, position);
    } catch (const DeviceError&) {
      throw;  // the file may be right: memory is exhausted
    } catch (const Error& e) {
      fail<ProgramError>("parameter '", printable(name), "' at byte ", position, ": ", e.what());
    }
    const auto& vars = program.blocks[0].vars;
    auto var = std::find_if(vars.begin(), vars.end(), [&](const VarDesc& v) { return v.name == name; });
    require<ProgramError>(var != vars.end(), "the program has no variable '", printable(name), "'");
    bool fits = static_cast<int32_t>(tensor.dtype) == var->dtype && shapes_agree(tensor.shape, Shape(var->dims));
    require<ShapeError>(fits, "parameter '", printable(name), "' is ", tensor.shape.str(), " ", name_of(tensor.dtype),
                        " in the file, the program declares ", Shape(var->dims).str(), " ",
                        is_dtype(var->dtype) ? name_of(static_cast<DType>(var->dtype)) : "?");
    result.emplace_back(name, std::move(tensor));
  }
  require<ProgramError>(position == bytes.size(), "the file has ", bytes.size() - position, " bytes after the last of ",
                        names.size(), " parameters: it belongs to another program");
  if (checksum) require_parameters(checksum, crc32c(bytes));
  return result;
}

std::string parameter_bytes(const Scope& scope, const std::vector<std::string>& names) {
  std::string bytes;
  size_t size = 0;
  for (const std::string& name : names) {
    const Variable* variable = scope.find(name);
    if (variable && variable->has_value()) size += variable->tensor.bytes() + kLargestHeader;
  }
  bytes.reserve(size);
  for (const std::string& name : names) {
    const Variable* variable = scope.find(name);
    require<OpError>(variable && variable->has_value() && variable->kind == VarKind::Tensor, "'", printable(name),
                     "' has no value in the scope to be saved");
    append_tensor(on_host(variable->tensor), bytes);
  }
  return bytes;
}

}  // namespace paddle_mini
