// Implements InferContext and the inference rules that many operators share.
#include "core/infer.h"

namespace paddle_mini {
namespace {

int slot_index(const std::vector<Slot>& slots, const std::string& port) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].name == port) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

InferContext::InferContext(const OpDesc& op, std::vector<std::vector<VarInfo>> inputs,
                           std::vector<std::vector<const Variable*>> values)
    : op_(op), inputs_(std::move(inputs)), values_(std::move(values)) {
  for (const Slot& slot : op.outputs) outputs_.emplace_back(slot.arguments.size());
}

size_t InferContext::input_count(const char* port) const {
  int i = slot_index(op_.inputs, port);
  return i < 0 ? 0 : inputs_[i].size();
}

const VarInfo& InferContext::input(const char* port, size_t i) const {
  require<ProgramError>(i < input_count(port), "input ", port, " is missing");
  return inputs_[slot_index(op_.inputs, port)][i];
}

size_t InferContext::output_count(const char* port) const {
  int i = slot_index(op_.outputs, port);
  return i < 0 ? 0 : outputs_[i].size();
}

VarInfo& InferContext::output(const char* port, size_t i) {
  require<ProgramError>(i < output_count(port), "output ", port, " is missing");
  return outputs_[slot_index(op_.outputs, port)][i];
}

void InferContext::set_output(const char* port, DType dtype, const Shape& shape) {
  set_output(port, VarInfo{VarKind::Tensor, dtype, shape});
}

void InferContext::set_output(const char* port, const VarInfo& info) {
  if (has_output(port)) output(port) = info;
}

const Variable* InferContext::value(const char* port, size_t i) const {
  require<ProgramError>(i < input_count(port), "input ", port, " is missing");
  return values_.empty() ? nullptr : values_[slot_index(op_.inputs, port)][i];
}

std::optional<std::vector<int64_t>> InferContext::integers(const char* port, size_t i) const {
  require_index(*this, port);
  const Variable* variable = value(port, i);
  if (!variable) return std::nullopt;
  const Tensor& tensor = variable->tensor;
  int64_t count = tensor.shape.numel();
  if (tensor.dtype == DType::Int64) return std::vector<int64_t>(tensor.as<int64_t>(), tensor.as<int64_t>() + count);
  require<ShapeError>(tensor.dtype == DType::Int32, port, " is ", name_of(tensor.dtype), ", it must be int32 or int64");
  return std::vector<int64_t>(tensor.as<int32_t>(), tensor.as<int32_t>() + count);
}

DType InferContext::dtype_attr(const char* name) const {
  int32_t number = attr<int32_t>(name);
  require<ProgramError>(is_dtype(number), "attribute '", name, "' is ", number, ", which is not an element type");
  return static_cast<DType>(number);
}

Shape InferContext::shape_attr(const char* name) const {
  AttrValue value = convert(*op_.attr(name), AttrType::Longs, name);
  for (int64_t dim : std::get<std::vector<int64_t>>(value)) {
    require<ProgramError>(dim >= 0, "attribute '", name, "' is ", show(value), ": a dimension can't be ", dim);
  }
  Shape shape(std::get<std::vector<int64_t>>(value));
  shape.numel();  // throws if it is too large
  return shape;
}

InferFunction same_as(const char* port) {
  return [port](InferContext& c) {
    require_tensors(c);
    VarInfo info = c.input(port);
    for (const Slot& slot : c.op().outputs) {
      for (size_t i = 0; i < slot.arguments.size(); ++i) c.output(slot.name.c_str(), i) = info;
    }
  };
}

void gradients_like_inputs(InferContext& c) {
  require_tensors(c);
  const std::string suffix = kGradSuffix;
  for (const Slot& slot : c.op().outputs) {
    std::string port = slot.name.substr(0, slot.name.size() - suffix.size());
    for (size_t i = 0; i < slot.arguments.size(); ++i) {
      VarInfo info = c.input(port.c_str(), i);
      info.kind = VarKind::Tensor;
      c.output(slot.name.c_str(), i) = info;
    }
  }
}

bool same_shape(const Shape& a, const Shape& b) {
  return shapes_agree(a, b) || (a.known() && b.known() && a.numel() == 1 && b.numel() == 1);
}

void require_same_shape(const InferContext& c, const char* a, const char* b) {
  require<ShapeError>(same_shape(c.shape(a), c.shape(b)), a, " has shape ", c.shape(a).str(), ", ", b, " has ",
                      c.shape(b).str());
}

void require_same_dtype(const InferContext& c, const char* a, const char* b) {
  require<ShapeError>(c.input(a).dtype == c.input(b).dtype, a, " is ", name_of(c.input(a).dtype), ", ", b, " is ",
                      name_of(c.input(b).dtype));
}

void require_rank(const InferContext& c, const char* port, int rank) {
  require<ShapeError>(c.shape(port).rank() == rank, port, " has ", c.shape(port).rank(), " dimensions, ", rank,
                      " are needed");
}

void require_scalar(const InferContext& c, const char* port) {
  const Shape& shape = c.shape(port);
  require<ShapeError>(!shape.known() || shape.numel() == 1, port, " has shape ", shape.str(),
                      ", it must have one element");
}

void require_rows(const InferContext& c, const char* port) {
  const VarInfo& rows = c.input(port);
  require<ShapeError>(rows.kind == VarKind::SelectedRows, port, " is ", name_of(rows.kind),
                      ", it must be selected rows");
  require<ShapeError>(rows.shape.rank() > 0, port, " are rows of a table without dimensions");
}

void require_tensors(const InferContext& c) {
  for (const Slot& slot : c.op().inputs) {
    for (size_t i = 0; i < slot.arguments.size(); ++i) {
      VarKind kind = c.input(slot.name.c_str(), i).kind;
      require<ShapeError>(kind == VarKind::Tensor, slot.name, " is ", name_of(kind), ", it must be a tensor");
    }
  }
}

void require_index(const InferContext& c, const char* port) {
  DType dtype = c.input(port).dtype;
  require<ShapeError>(dtype == DType::Int32 || dtype == DType::Int64, port, " is ", name_of(dtype),
                      ", it must be int32 or int64");
}

void require_number(const InferContext& c, const char* port) {
  DType dtype = c.input(port).dtype;
  require<ShapeError>(dtype == DType::Float32 || dtype == DType::Float64, port, " is ", name_of(dtype),
                      ", it must be float32 or float64");
}

}  // namespace paddle_mini
