// Runs a float32 kernel on a few rows of 16-bit floats at a time.
#include "ops/family/narrow_rows.h"

#include <algorithm>

#include "core/infer.h"
#include "math/cast.h"

namespace paddle_mini {
namespace {

constexpr int64_t kElements = 1 << 15;  // for each thread

// Calls f(variable, is_output) for the ports in order, without those that are absent.
template <class F>
void each_port(const KernelInit& init, F f) {
  for (const Slot& slot : init.op().inputs) {
    for (size_t i = 0; i < init.input_count(slot.name.c_str()); ++i)
      if (Variable* port = init.input(slot.name.c_str(), i)) f(*port, false);
  }
  for (const Slot& slot : init.op().outputs) {
    for (size_t i = 0; i < init.output_count(slot.name.c_str()); ++i)
      if (Variable* port = init.output(slot.name.c_str(), i)) f(*port, true);
  }
}

// Its first axis is that of the others.
const Variable* first_of(const KernelInit& init) {
  const Variable* first = nullptr;
  each_port(init, [&](const Variable& port, bool) { first = first ? first : &port; });
  return first;
}

}  // namespace

RowsInFloat::RowsInFloat(KernelInit& init, DType narrow, KernelFactory make) : narrow_(narrow) {
  const Shape& shape = first_of(init)->tensor.shape;
  rows_ = shape.rank() > 0 ? shape[0] : 1;
  int64_t elements = 0;
  each_port(init, [&](const Variable& port, bool) {
    if (port.tensor.dtype == narrow_) elements += port.tensor.shape.numel() / std::max<int64_t>(rows_, 1);
  });
  const bool apart = shape.rank() > 0 && normal_axis(init.attr<int32_t>("axis"), shape.rank(), "axis") > 0;
  const int64_t fit = kElements * init.threads() / std::max<int64_t>(elements, 1);
  const int64_t at_once = apart ? std::clamp<int64_t>(fit, 1, std::max<int64_t>(rows_, 1)) : rows_;
  each_port(init, [&](const Variable& port, bool) {
    const bool is_narrow = port.tensor.dtype == narrow_;
    copies_.emplace_back(init, is_narrow && rows_ ? port.tensor.shape.numel() / rows_ * at_once : 0);
  });
  if (rows_ == 0) return;
  add_part(init, make, at_once);
  if (rows_ % at_once) add_part(init, make, rows_ % at_once);
}

void RowsInFloat::run(KernelContext& context) {
  for (int64_t row = 0; row < rows_;) {
    Part& part = rows_ - row >= parts_[0].rows ? parts_[0] : parts_[1];
    part.bind(context, row, copies_);
    part.kernel->run(context);
    part.write_back(context, row);
    row += part.rows;
  }
}

void* RowsInFloat::Part::at(const Port& port, int64_t row) {
  const int64_t size = port.rows.tensor.shape.numel() / (port.rows.tensor.shape.rank() ? port.rows.tensor.shape[0] : 1);
  return static_cast<char*>(port.whole->tensor.data) +
         static_cast<size_t>(row * size) * size_of(port.whole->tensor.dtype);
}

void RowsInFloat::Part::bind(KernelContext& context, int64_t row, const std::vector<Scratch<float>>& copies) {
  for (size_t i = 0; i < ports.size(); ++i) {
    Port& port = ports[i];
    Tensor& tensor = port.rows.tensor;
    tensor.data = is_cast(port) ? copies[i].data() : at(port, row);
    if (is_cast(port) && !port.is_output)
      cast_function(port.whole->tensor.dtype, DType::Float32)(context, tensor.shape.numel(), at(port, row),
                                                              tensor.data);
  }
}

void RowsInFloat::Part::write_back(KernelContext& context, int64_t row) {
  for (const Port& port : ports) {
    const Tensor& tensor = port.rows.tensor;
    if (port.is_output && is_cast(port))
      cast_function(DType::Float32, port.whole->tensor.dtype)(context, tensor.shape.numel(), tensor.data,
                                                              at(port, row));
  }
}

void RowsInFloat::add_part(KernelInit& init, KernelFactory make, int64_t rows) {
  Part& part = parts_.emplace_back();
  part.rows = rows;
  std::vector<std::vector<Variable*>> inputs, outputs;
  auto add = [&](Variable* whole, bool is_output) -> Variable* {
    if (!whole) return nullptr;
    Part::Port& port = part.ports.emplace_back();
    port.whole = whole, port.is_output = is_output;
    VarInfo info = whole->info();
    if (info.dtype == narrow_) info.dtype = DType::Float32;
    if (info.shape.rank() > 0) info.shape[0] = rows;
    info.lod = {};
    port.rows.describe(info);
    return &port.rows;
  };
  for (const Slot& slot : init.op().inputs) {
    inputs.emplace_back();
    for (size_t i = 0; i < init.input_count(slot.name.c_str()); ++i)
      inputs.back().push_back(add(init.input(slot.name.c_str(), i), false));
  }
  for (const Slot& slot : init.op().outputs) {
    outputs.emplace_back();
    for (size_t i = 0; i < init.output_count(slot.name.c_str()); ++i)
      outputs.back().push_back(add(init.output(slot.name.c_str(), i), true));
  }
  KernelInit inner(init.op(), std::move(inputs), std::move(outputs), init);
  part.kernel = make(inner);
}

}  // namespace paddle_mini
