// Reads and writes parameter files. Sizes that a file claims are checked against its actual size before anything is
// allocated.
#include "program/tensor_file.h"

#include <algorithm>
#include <cstring>

#include "core/outside_values.h"
#include "program/checksum.h"
#include "program/model_file.h"

namespace paddle_mini {
namespace {

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// A file in the memory, with the functions of FileStream.
class MemoryStream {
 public:
  explicit MemoryStream(std::string_view bytes, size_t position = 0) : bytes_(bytes), position_(position) {}

  size_t position() const { return position_; }
  size_t left() const { return bytes_.size() - position_; }
  void read(char* to, size_t count) {
    if (count > 0) std::memcpy(to, bytes_.data() + position_, count);
    position_ += count;
  }
  uint32_t checksum() const { return crc32c(bytes_.substr(0, position_)); }

 private:
  std::string_view bytes_;
  size_t position_;
};

template <class Stream>
class Reader {
 public:
  explicit Reader(Stream& stream) : stream_(stream) {}

  template <class T>
  T number(const char* what) {
    require_left(sizeof(T), what);
    T value;
    stream_.read(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  }
  void require_left(uint64_t count, const char* what) const {
    require<ProgramError>(count <= stream_.left(), "the file is cut off: ", what, " needs ", count, " bytes, ",
                          stream_.left(), " are left");
  }
  void read(void* to, size_t count) { stream_.read(static_cast<char*>(to), count); }

 private:
  Stream& stream_;
};

// Reads the offsets of one level, which start at 0 and never decrease.
template <class Stream>
std::vector<int64_t> read_level(Reader<Stream>& reader) {
  auto size = reader.template number<uint64_t>("a level's size");
  reader.require_left(size, "a level");
  require<ProgramError>(size % 8 == 0 && size >= 8, "a level of sequence offsets has ", size, " bytes");
  std::vector<int64_t> offsets(size / 8);
  reader.read(offsets.data(), size);
  bool rising = offsets[0] == 0 && std::is_sorted(offsets.begin(), offsets.end());
  require<ProgramError>(rising, "sequence offsets must start at 0 and never decrease");
  return offsets;
}

std::string_view data_of(const Tensor& tensor) { return {static_cast<const char*>(tensor.data), tensor.bytes()}; }

// Without data, which are there.
template <class Stream>
Tensor read_header_from(Stream& stream) {
  Reader<Stream> reader(stream);
  Tensor tensor;
  Lod& lod = tensor.lod;
  auto version = reader.template number<uint32_t>("a tensor's header");
  require<ProgramError>(version == 0, "a tensor's format version is ", version, ", only 0 is supported");
  auto levels = reader.template number<uint64_t>("a tensor's header");
  require<ProgramError>(levels <= 8, "a tensor has ", levels, " levels of sequences");
  for (uint64_t i = 0; i < levels; ++i) lod.push_back(read_level(reader));
  version = reader.template number<uint32_t>("a tensor's header");
  require<ProgramError>(version == 0, "a tensor's format version is ", version, ", only 0 is supported");
  auto size = reader.template number<int32_t>("a tensor's description");
  require<ProgramError>(size > 0 && size <= 1024, "a tensor's description has ", size, " bytes");
  reader.require_left(static_cast<uint64_t>(size), "a tensor's description");
  std::string description(static_cast<size_t>(size), '\0');
  reader.read(description.data(), description.size());
  TensorDesc desc = decode_tensor_desc(description);
  require<ProgramError>(is_dtype(desc.dtype), "a tensor has elements of type ", type_name(desc.dtype),
                        ", which is not supported");
  Shape shape(desc.dims);
  require<ProgramError>(shape.known(), "a tensor in a file has shape ", shape.str());
  tensor.dtype = static_cast<DType>(desc.dtype), tensor.shape = shape;
  reader.require_left(static_cast<uint64_t>(shape.numel()) * size_of(tensor.dtype), "a tensor's data");
  return tensor;
}

template <class Stream>
Tensor read_tensor_from(Stream& stream) {
  Tensor header = read_header_from(stream), tensor = new_tensor(header.dtype, header.shape);
  stream.read(static_cast<char*>(tensor.data), tensor.bytes());
  require_bools(tensor, "");
  tensor.lod = std::move(header.lod);
  return tensor;
}

template <class Stream>
Parameters read_parameters_from(Stream& stream, const ProgramDesc& program, const std::vector<std::string>& names,
                                std::optional<uint32_t> checksum) {
  Parameters result;
  for (const std::string& name : names) {
    Tensor tensor;
    const size_t begin = stream.position();
    try {
      tensor = read_tensor_from(stream);
    } catch (const DeviceError&) {
      throw;  // the file may be right: memory is exhausted
    } catch (const Error& e) {
      fail<ProgramError>("parameter '", printable(name), "' at byte ", begin, ": ", e.what());
    }
    require_declared(program, name, tensor);
    check_lod(tensor.lod, tensor.shape, name);
    result.emplace_back(name, std::move(tensor));
  }
  require<ProgramError>(stream.left() == 0, "the file has ", stream.left(), " bytes after the last of ", names.size(),
                        " parameters: it belongs to another program");
  if (checksum) require_parameters(checksum, stream.checksum());
  return result;
}

}  // namespace

bool fits_declaration(const Shape& value, const VarDesc& var) {
  const Shape declared = declared_shape(var.dims);
  return shapes_agree(declared, value) || (declared.known() && declared.numel() == 1 && value.numel() == 1);
}

void require_declared(const ProgramDesc& program, const std::string& name, const Tensor& tensor) {
  const auto& vars = program.blocks[0].vars;
  auto var = std::find_if(vars.begin(), vars.end(), [&](const VarDesc& v) { return v.name == name; });
  require<ProgramError>(var != vars.end(), "the program has no variable '", printable(name), "'");
  bool fits = static_cast<int32_t>(tensor.dtype) == var->dtype && fits_declaration(tensor.shape, *var);
  require<ShapeError>(fits, "parameter '", printable(name), "' is ", tensor.shape.str(), " ", name_of(tensor.dtype),
                      " in the file, the program declares ", Shape(var->dims).str(), " ",
                      is_dtype(var->dtype) ? name_of(static_cast<DType>(var->dtype)) : "?");
}

std::string tensor_header(const Tensor& tensor) {
  std::string bytes;
  append<uint32_t>(bytes, 0);
  append<uint64_t>(bytes, tensor.lod.size());
  for (const auto& level : tensor.lod) {
    append<uint64_t>(bytes, level.size() * 8);
    bytes.append(reinterpret_cast<const char*>(level.data()), level.size() * 8);
  }
  append<uint32_t>(bytes, 0);
  std::string desc = encode_tensor_desc({static_cast<int32_t>(tensor.dtype), tensor.shape.vector()});
  append<int32_t>(bytes, static_cast<int32_t>(desc.size()));
  return bytes + desc;
}

void append_tensor(const Tensor& tensor, std::string& bytes) {
  bytes += tensor_header(tensor);
  bytes += data_of(tensor);
}

Tensor read_tensor(std::string_view bytes, size_t& position) {
  MemoryStream stream(bytes, position);
  Tensor tensor = read_tensor_from(stream);
  position = stream.position();
  return tensor;
}

Tensor tensor_in(std::string_view bytes, size_t& position) {
  MemoryStream stream(bytes, position);
  Tensor tensor = read_header_from(stream);
  tensor.data = const_cast<char*>(bytes.data() + stream.position());
  require_bools(tensor, "");
  position = stream.position() + tensor.bytes();
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

Parameters read_parameters(std::string_view bytes, const ProgramDesc& program, const std::vector<std::string>& names,
                           std::optional<uint32_t> checksum) {
  MemoryStream stream(bytes);
  return read_parameters_from(stream, program, names, checksum);
}

Parameters read_parameters(FileStream& file, const ProgramDesc& program, const std::vector<std::string>& names,
                           std::optional<uint32_t> checksum) {
  return read_parameters_from(file, program, names, checksum);
}

void set_parameters(Scope& scope, Parameters parameters) {
  for (const auto& [name, tensor] : parameters) scope.require_unclaimed(name);
  std::vector<std::string> made;
  std::vector<Variable*> variables;
  made.reserve(parameters.size());
  variables.reserve(parameters.size());
  try {
    for (const auto& [name, tensor] : parameters) {
      if (!scope.find(name)) made.push_back(name);
      variables.push_back(&scope.create(name));
    }
  } catch (...) {
    for (const std::string& name : made) scope.erase(name);
    throw;
  }
  for (size_t i = 0; i < parameters.size(); ++i) scope.give(*variables[i], std::move(parameters[i].second));
  scope.changed();
}

ParameterPieces::ParameterPieces(const Scope& scope, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Variable* variable = scope.find(name);
    require<OpError>(variable && variable->has_value() && variable->kind == VarKind::Tensor, "'", printable(name),
                     "' has no value in the scope to be saved");
    values_.push_back(on_host(variable->tensor));
    pieces_.push_back(headers_.emplace_back(tensor_header(values_.back())));
    pieces_.push_back(data_of(values_.back()));
  }
}

}  // namespace paddle_mini
