// Resolves the ports of a kernel.
#include "core/kernel.h"

#include "core/packed_store.h"
#include "core/parallel.h"

namespace paddle_mini {
namespace {

const std::vector<Variable*>* find_slot(const std::vector<Slot>& slots,
                                        const std::vector<std::vector<Variable*>>& values, const std::string& port) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].name == port) return &values[i];
  }
  return nullptr;
}

Variable* element(const std::vector<Variable*>* slot, size_t i) {
  return slot && i < slot->size() ? (*slot)[i] : nullptr;
}

}  // namespace

void KernelContext::launch_pending() {
  std::vector<std::unique_ptr<PendingLaunches>> now;
  now.swap(pending);
  for (auto& kind : now) kind->launch(*this);
}

KernelInit::KernelInit(const OpDesc& op, std::vector<std::vector<Variable*>> inputs,
                       std::vector<std::vector<Variable*>> outputs, int threads, const ConstantInputs* constants)
    : op_(op), inputs_(std::move(inputs)), outputs_(std::move(outputs)), memory_(std::make_shared<Memory>()),
      threads_(threads), constants_(constants) {}

KernelInit::KernelInit(const OpDesc& op, std::vector<std::vector<Variable*>> inputs,
                       std::vector<std::vector<Variable*>> outputs, const KernelInit& outer)
    : op_(op), inputs_(std::move(inputs)), outputs_(std::move(outputs)), memory_(outer.memory_),
      threads_(outer.threads_), constants_(outer.constants_) {}

void ElementwiseKernel::run_range(int64_t, int64_t) { fail<ProgramError>("a kernel of a GPU has no ranges"); }

void ElementwiseKernel::run_all_ranges(KernelContext& context, int64_t elements, double cost) {
  parallel_for(context, {elements, cost, 256}, [this](int64_t begin, int64_t end) { run_range(begin, end); });
}

size_t KernelInit::input_count(const char* port) const {
  auto slot = find_slot(op_.inputs, inputs_, port);
  return slot ? slot->size() : 0;
}

size_t KernelInit::output_count(const char* port) const {
  auto slot = find_slot(op_.outputs, outputs_, port);
  return slot ? slot->size() : 0;
}

Variable* KernelInit::input(const char* port, size_t i) const {
  return element(find_slot(op_.inputs, inputs_, port), i);
}

Variable* KernelInit::output(const char* port, size_t i) const {
  return element(find_slot(op_.outputs, outputs_, port), i);
}

Variable* KernelInit::scratch(DType dtype, int64_t count) {
  Variable& scratch = scratches().emplace_back();
  scratch.tensor.dtype = dtype;
  scratch.tensor.shape = Shape{count};
  return &scratch;
}

std::shared_ptr<PackedCopy> KernelInit::packed(const char* port, const char* order, std::vector<int64_t> sizes,
                                               size_t bytes, size_t i) const {
  const Variable* variable = input(port, i);
  if (!constants_ || !constants_->variables.count(variable)) return nullptr;
  sizes.push_back(static_cast<int64_t>(variable->tensor.dtype));  // a program of another type may have a copy, too
  return constants_->store->at({variable, order, std::move(sizes)}, bytes);
}

Variable* checked_port(Variable* variable, const char* port, DType dtype) {
  require<ProgramError>(variable != nullptr, "port ", port, " is missing");
  require<ShapeError>(variable->tensor.dtype == dtype, port, " is ", name_of(variable->tensor.dtype), ", expected ",
                      name_of(dtype));
  return variable;
}

IndexIn::IndexIn(const KernelInit& init, const char* port) : variable_(init.input(port)) {
  require<ProgramError>(variable_ != nullptr, "port ", port, " is missing");
  DType dtype = variable_->tensor.dtype;
  require<ShapeError>(dtype == DType::Int32 || dtype == DType::Int64, port, " is ", name_of(dtype),
                      ", expected int32 or int64");
  wide_ = dtype == DType::Int64;
}

NumberIn::NumberIn(const KernelInit& init, const char* port) : NumberIn(init, port, optional_port) {
  require<ProgramError>(variable_ != nullptr, "port ", port, " is missing");
}

NumberIn::NumberIn(const KernelInit& init, const char* port, OptionalPort) : variable_(init.input(port)) {
  if (!variable_) return;
  DType dtype = variable_->tensor.dtype;
  require<ShapeError>(dtype == DType::Float32 || dtype == DType::Float64, port, " is ", name_of(dtype),
                      ", expected float32 or float64");
  wide_ = dtype == DType::Float64;
}

}  // namespace paddle_mini
