// Reads attributes from tensors.
#include "ops/family/tensor_attr.h"

#include <algorithm>

namespace paddle_mini {
namespace {

using Longs = std::vector<int64_t>;

// The port that provides the numbers; nullptr: the attribute does.
template <class Context>
const char* port_of(const Context& c, const TensorAttr& attr) {
  for (const char* port : {attr.tensor, attr.list}) {
    if (port && c.input_count(port) > 0) return port;
  }
  return nullptr;
}

bool is_list(const TensorAttr& attr, const char* port) { return attr.list && std::string(port) == attr.list; }

void append(Longs* numbers, const Tensor& tensor, const char* port) {
  int64_t count = tensor.shape.numel();
  if (tensor.dtype == DType::Int64) {
    numbers->insert(numbers->end(), tensor.as<int64_t>(), tensor.as<int64_t>() + count);
  } else {
    require<ShapeError>(tensor.dtype == DType::Int32, port, " is ", name_of(tensor.dtype),
                        ", it must be int32 or int64");
    numbers->insert(numbers->end(), tensor.as<int32_t>(), tensor.as<int32_t>() + count);
  }
}

bool is_one_number(AttrType type) { return type == AttrType::Int || type == AttrType::Long; }

void write(OpDesc* op, const TensorAttr& attr, Longs numbers) {
  const AttrValue* held = op->attr(attr.attr);
  require<ProgramError>(held != nullptr, "attribute '", attr.attr, "' is missing");
  AttrType type = type_of(*held);
  if (attr.positions && (type == AttrType::Int || type == AttrType::Ints)) {
    for (int64_t& number : numbers) number = std::clamp<int64_t>(number, INT32_MIN, INT32_MAX);
  }
  require<ShapeError>(!is_one_number(type) || numbers.size() == 1, "the tensor given for '", attr.attr, "' has ",
                      numbers.size(), " elements, it must have one");
  AttrValue value = is_one_number(type) ? AttrValue(numbers[0]) : AttrValue(numbers);
  op->set_attr(attr.attr, convert(value, type, attr.attr));
}

void check_port(const InferContext& c, const TensorAttr& attr, const char* port) {
  for (size_t i = 0; i < c.input_count(port); ++i) {
    const VarInfo& info = c.input(port, i);
    bool whole = info.dtype == DType::Int32 || info.dtype == DType::Int64;
    require<ShapeError>(whole, port, " is ", name_of(info.dtype), ", it must be int32 or int64");
    bool one = !is_list(attr, port) || !info.shape.known() || info.shape.numel() == 1;
    require<ShapeError>(one, port, "[", i, "] has shape ", info.shape.str(), ", it must have one element");
  }
}

}  // namespace

TensorNumbers tensor_numbers(const InferContext& c, const TensorAttr& attr) {
  TensorNumbers numbers;
  const char* port = port_of(c, attr);
  if (!port) return numbers;
  numbers.given = true;
  check_port(c, attr, port);
  for (size_t i = 0; i < c.input_count(port); ++i) {
    const Variable* value = c.value(port, i);
    if (value) append(&numbers.values, value->tensor, port);
    else numbers.known = false;
  }
  return numbers;
}

TensorNumbers tensor_numbers(const KernelInit& init, const TensorAttr& attr) {
  TensorNumbers numbers;
  const char* port = port_of(init, attr);
  if (!port) return numbers;
  numbers.given = true;
  for (size_t i = 0; i < init.input_count(port); ++i) append(&numbers.values, init.input(port, i)->tensor, port);
  return numbers;
}

std::optional<OpDesc> settled(InferContext& c, const TensorAttrs& attrs) {
  OpDesc op = c.op();
  bool known = true;
  for (const TensorAttr& attr : attrs) {
    TensorNumbers numbers = tensor_numbers(c, attr);
    known = known && numbers.known;
    if (numbers.given && numbers.known) write(&op, attr, std::move(numbers.values));
  }
  if (known) return op;
  c.await_values();
  return std::nullopt;
}

OpDesc settled(const KernelInit& init, const TensorAttrs& attrs) {
  OpDesc op = init.op();
  for (const TensorAttr& attr : attrs) {
    TensorNumbers numbers = tensor_numbers(init, attr);
    if (numbers.given) write(&op, attr, std::move(numbers.values));
  }
  return op;
}

int64_t number_count(const InferContext& c, const TensorAttr& attr) {
  const char* port = port_of(c, attr);
  if (port && is_list(attr, port)) return static_cast<int64_t>(c.input_count(port));
  if (port) return c.shape(port).known() ? c.shape(port).numel() : -1;
  return static_cast<int64_t>(std::get<Longs>(convert(*c.op().attr(attr.attr), AttrType::Longs, attr.attr)).size());
}

Shape open_shape(const InferContext& c, const TensorAttr& attr) {
  Longs written = std::get<Longs>(convert(*c.op().attr(attr.attr), AttrType::Longs, attr.attr));
  const char* port = port_of(c, attr);
  if (!port) return Shape(written);
  int64_t count = number_count(c, attr);
  // If the number of dimensions is unknown, the attribute may have an element for each.
  if (count < 0) count = std::max<int64_t>(static_cast<int64_t>(written.size()), 1);
  bool beside = is_list(attr, port) && static_cast<int64_t>(written.size()) == count;
  if (!beside) return open_shape(count);
  for (int64_t& dim : written) dim = dim > 0 ? dim : -1;
  return Shape(written);
}

Shape open_shape(int64_t rank) {
  require<ShapeError>(rank >= 0 && rank <= Shape::kMaxRank, "a shape can't have ", rank, " dimensions");
  return Shape(Longs(static_cast<size_t>(rank), -1));
}

Shape settled_shape(InferContext& c, const TensorAttr& attr) {
  auto op = settled(c, {attr});
  if (!op) return open_shape(c, attr);
  Longs dims = std::get<Longs>(convert(*op->attr(attr.attr), AttrType::Longs, attr.attr));
  for (int64_t dim : dims) {
    require<ProgramError>(dim >= 0, "'", attr.attr, "' is ", show(AttrValue(dims)), ": a dimension can't be ", dim);
  }
  Shape shape(dims);
  shape.numel();  // throws if it is too large
  return shape;
}

OpSchema with_tensor_ports(OpSchema schema, const TensorAttrs& attrs) {
  for (const TensorAttr& attr : attrs) {
    if (attr.tensor) schema.optional_input(attr.tensor, "integers; replace the attribute");
    if (attr.list) schema.optional_input_list(attr.list, "one integer each; replace the attribute");
  }
  return schema;
}

std::vector<std::string> with_ports(std::vector<std::string> inputs, const TensorAttrs& attrs) {
  for (const TensorAttr& attr : attrs) {
    if (attr.tensor) inputs.push_back(attr.tensor);
    if (attr.list) inputs.push_back(attr.list);
  }
  return inputs;
}

}  // namespace paddle_mini
