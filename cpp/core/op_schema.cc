// Builds schemas, one fact after the other, and reads them.
#include "core/op_schema.h"

#include <algorithm>

namespace paddle_mini {
namespace {

// The numbers in an attribute, for range checks.
std::vector<double> numbers_in(const AttrValue& value) {
  return std::visit(
      [](const auto& v) -> std::vector<double> {
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_arithmetic_v<V>) {
          return {static_cast<double>(v)};
        } else if constexpr (std::is_same_v<V, std::vector<int32_t>> || std::is_same_v<V, std::vector<int64_t>> ||
                             std::is_same_v<V, std::vector<float>> || std::is_same_v<V, std::vector<double>>) {
          return {v.begin(), v.end()};
        } else {
          return {};
        }
      },
      value);
}

template <class List, class Key>
auto find_named(List& list, const Key& name) {
  return std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.name == name; });
}

// Replaces an inherited item; check_schema() refuses an item that is stated twice.
template <class T>
void set_named(std::vector<T>& list, T item) {
  auto found = find_named(list, item.name);
  if (found != list.end() && found->inherited) *found = std::move(item);
  else list.push_back(std::move(item));
}

}  // namespace

AttrCheck at_least(double low) { return between(low, 1e300); }

AttrCheck between(double low, double high) {
  return [low, high](const std::string& name, const AttrValue& value) {
    for (double number : numbers_in(value)) {
      bool inside = number >= low && number <= high;  // false for NaN
      if (inside) continue;
      if (high >= 1e300) fail<ProgramError>("attribute '", name, "' is ", number, ", it must be at least ", low);
      fail<ProgramError>("attribute '", name, "' is ", number, ", it must be between ", low, " and ", high);
    }
  };
}

AttrCheck one_of(std::vector<std::string> choices) {
  return [choices](const std::string& name, const AttrValue& value) {
    const std::string& given = std::get<std::string>(value);
    if (std::find(choices.begin(), choices.end(), given) != choices.end()) return;
    std::string list;
    for (const std::string& choice : choices) list += (list.empty() ? "'" : ", '") + choice + "'";
    fail<ProgramError>("attribute '", name, "' is '", printable(given), "', it must be one of ", list);
  };
}

OpSchema::OpSchema(std::string_view type) : type_(type) {}
OpSchema::OpSchema(const OpSchema&) = default;
OpSchema::OpSchema(OpSchema&&) noexcept = default;
OpSchema& OpSchema::operator=(const OpSchema&) = default;
OpSchema& OpSchema::operator=(OpSchema&&) noexcept = default;
OpSchema::~OpSchema() = default;

// clang-format off: a table of setters
OpSchema& OpSchema::doc(std::string_view text) { doc_ = text; return *this; }
OpSchema& OpSchema::input(const char* name, const char* doc) { set_named(inputs_, {name, doc, false, false}); return *this; }
OpSchema& OpSchema::shape_input(const char* name, const char* doc) { return input(name, doc).shape_only(name); }
OpSchema& OpSchema::optional_input(const char* name, const char* doc) { set_named(inputs_, {name, doc, true, false}); return *this; }
OpSchema& OpSchema::input_list(const char* name, const char* doc) { set_named(inputs_, {name, doc, false, true}); return *this; }
OpSchema& OpSchema::optional_input_list(const char* name, const char* doc) { set_named(inputs_, {name, doc, true, true}); return *this; }
OpSchema& OpSchema::output(const char* name, const char* doc) { set_named(outputs_, {name, doc, false, false}); return *this; }
OpSchema& OpSchema::optional_output(const char* name, const char* doc) { set_named(outputs_, {name, doc, true, false}); return *this; }
OpSchema& OpSchema::output_list(const char* name, const char* doc) { set_named(outputs_, {name, doc, false, true}); return *this; }
OpSchema& OpSchema::optional_output_list(const char* name, const char* doc) { set_named(outputs_, {name, doc, true, true}); return *this; }

OpSchema& OpSchema::set_attr(const char* name, AttrValue default_value, const char* doc, const AttrCheck& check) {
  AttrType type = type_of(default_value);
  set_named(attrs_, {name, type, std::move(default_value), doc, check});
  return *this;
}

template <class Value>
OpSchema& OpSchema::attr(const char* name, Value default_value, const char* doc) { return attr(name, std::move(default_value), doc, nullptr); }
template <class Value>
OpSchema& OpSchema::attr(const char* name, Value default_value, const char* doc, const AttrCheck& check) {
  if constexpr (std::is_same_v<Value, const char*>) return set_attr(name, std::string(default_value), doc, check);
  else return set_attr(name, std::move(default_value), doc, check);
}
#define PM_ATTR(...)                                                               \
  template OpSchema& OpSchema::attr(const char*, __VA_ARGS__, const char*);        \
  template OpSchema& OpSchema::attr(const char*, __VA_ARGS__, const char*, const AttrCheck&);
PM_ATTR(bool) PM_ATTR(int32_t) PM_ATTR(int64_t) PM_ATTR(float) PM_ATTR(double) PM_ATTR(const char*) PM_ATTR(std::string)
PM_ATTR(std::vector<int32_t>) PM_ATTR(std::vector<int64_t>) PM_ATTR(std::vector<float>) PM_ATTR(std::vector<double>)
PM_ATTR(std::vector<std::string>) PM_ATTR(std::vector<bool>) PM_ATTR(std::vector<ScalarValue>) PM_ATTR(AttrValue)
#undef PM_ATTR

OpSchema& OpSchema::required_attr(const char* name, AttrType type, const char* doc) { return required_attr(name, type, doc, nullptr); }
OpSchema& OpSchema::required_attr(const char* name, AttrType type, const char* doc, const AttrCheck& check) {
  set_named(attrs_, {name, type, std::nullopt, doc, check});
  return *this;
}

OpSchema& OpSchema::set_infer(void (*function)(InferContext&)) { infer_ = function; return *this; }
OpSchema& OpSchema::set_infer(InferFunction function) { infer_ = std::move(function); return *this; }

OpSchema& OpSchema::set_gradient(std::vector<OpDesc> (*rule)(const OpDesc&)) { gradient_ = rule; return *this; }
OpSchema& OpSchema::set_gradient(GradientRule rule) { gradient_ = std::move(rule); return *this; }
OpSchema& OpSchema::gradient(std::string_view type, Texts inputs, Texts outputs) {
  return gradient(type, std::vector<std::string>(inputs.begin(), inputs.end()), std::vector<std::string>(outputs.begin(), outputs.end()));
}
OpSchema& OpSchema::no_gradient(const char* reason) { no_gradient_reason_ = reason; return *this; }
OpSchema& OpSchema::dtype_from_input(const char* port) { dtype_port_ = port; dtype_port_is_output_ = false; return *this; }
OpSchema& OpSchema::dtype_from_output(const char* port) { dtype_port_ = port; dtype_port_is_output_ = true; return *this; }
OpSchema& OpSchema::in_place(const char* input, const char* output) { in_places_.emplace_back(input, output); return *this; }
OpSchema& OpSchema::view(const char* input, const char* output) { views_.emplace_back(input, output); return *this; }
OpSchema& OpSchema::updates(const char* input, const char* output) { updates_.emplace_back(input, output); return *this; }
OpSchema& OpSchema::shape_only(const char* input) { shape_ports_.push_back(input); return *this; }
OpSchema& OpSchema::splits_batch(const char* input) { batch_ports_.push_back(input); return *this; }
OpSchema& OpSchema::stores_parts(const char* output) { output_in_parts_ = output; return *this; }
OpSchema& OpSchema::accepts_selected_rows(const char* input) { row_ports_.push_back(input); return *this; }
OpSchema& OpSchema::checks_data(const char* port) { checks_data_ = true; checked_port_ = port ? port : ""; return *this; }
OpSchema& OpSchema::custom_lod() { decides_lod_ = true; return *this; }
// clang-format on
void OpSchema::set_kernel(DType dtype, KernelFactory factory) {
  require<ProgramError>(kernels_.emplace(dtype, factory).second, "schema of '", type_, "': two kernels for ",
                        name_of(dtype));
}
OpSchema& OpSchema::control(ControlFunction function) {
  control_ = function;
  return *this;
}
OpSchema& OpSchema::on_gpu() {
  on_gpu_ = true;
  return *this;
}
OpSchema& OpSchema::cpu_only(const char* reason) {
  cpu_only_reason_ = reason;
  return *this;
}
OpSchema& OpSchema::role(OpRole role) {
  role_ = role;
  return *this;
}

bool OpSchema::splits_batch_of(const std::string& input) const {
  return std::find(batch_ports_.begin(), batch_ports_.end(), input) != batch_ports_.end();
}
bool OpSchema::reads_only_shape(const std::string& input) const {
  return std::find(shape_ports_.begin(), shape_ports_.end(), input) != shape_ports_.end();
}

const AttrSchema* OpSchema::find_attr(const std::string& name) const {
  auto attr = find_named(attrs_, name);
  return attr == attrs_.end() ? nullptr : &*attr;
}

std::vector<OpDesc> OpSchema::make_gradient(const OpDesc& forward) const {
  require<ProgramError>(has_gradient(), "operator '", type_, "' has no gradient: ",
                        no_gradient_reason_.empty() ? "second derivatives of this operator are not known"
                                                    : no_gradient_reason_);
  return gradient_(forward);
}

KernelFactory OpSchema::kernel(DType dtype) const {
  for (const auto* kernels : {&kernels_, &narrow_kernels_})
    if (auto it = kernels->find(dtype); it != kernels->end()) return it->second;
  return any_kernel_;
}

std::vector<DType> OpSchema::kernel_dtypes() const {
  std::vector<DType> dtypes;
  for (const auto& entry : kernels_) dtypes.push_back(entry.first);
  return dtypes;
}

DType OpSchema::kernel_dtype(const OpDesc& op, const std::vector<std::vector<VarInfo>>& inputs,
                             const std::vector<std::vector<VarInfo>>& outputs) const {
  auto first_of = [](const std::vector<Slot>& slots, const std::vector<std::vector<VarInfo>>& infos,
                     const std::string& port) -> const VarInfo* {
    for (size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].name == port && !infos[i].empty()) return &infos[i][0];
    }
    return nullptr;
  };
  const VarInfo* info = nullptr;
  if (!dtype_port_.empty()) {
    info =
        dtype_port_is_output_ ? first_of(op.outputs, outputs, dtype_port_) : first_of(op.inputs, inputs, dtype_port_);
  }
  for (size_t i = 0; !info && i < inputs_.size(); ++i) info = first_of(op.inputs, inputs, inputs_[i].name);
  for (size_t i = 0; !info && i < outputs_.size(); ++i) info = first_of(op.outputs, outputs, outputs_[i].name);
  require<ProgramError>(info != nullptr, "operator has neither inputs nor outputs");
  return info->dtype;
}

OpDesc make_op(std::string type, std::vector<Slot> inputs, std::vector<Slot> outputs, std::vector<Attr> attrs) {
  OpDesc op;
  op.type = std::move(type);
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  op.attrs = std::move(attrs);
  return op;
}

}  // namespace paddle_mini
