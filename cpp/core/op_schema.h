// OpSchema: the declaration of an operator. One chained expression states its ports, attributes, shapes, gradient and
// kernels; Python's checks, signatures and docs derive from it alone.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>

#include "core/control.h"
#include "core/kernel.h"

namespace paddle_mini {

struct PortSchema {
  std::string name;
  std::string doc;
  bool optional = false;
  bool list = false;  // takes any number of variables
  bool inherited = false;  // by a gradient's schema, from that of its forward operator
};

bool has_port(const std::vector<PortSchema>& ports, const std::string& name);

// Throws ProgramError, beginning with the attribute's name, if the value is invalid.
using AttrCheck = std::function<void(const std::string& name, const AttrValue& value)>;

struct AttrSchema {
  std::string name;
  AttrType type;
  std::optional<AttrValue> default_value;  // none: the attribute is required
  std::string doc;
  AttrCheck check;
  bool inherited = false;
};

AttrCheck at_least(double low);  // for a list: each element
AttrCheck between(double low, double high);  // both inclusive
AttrCheck one_of(std::vector<std::string> choices);

// Creates the operators that compute a gradient; names of gradients end in @GRAD.
using GradientRule = std::function<std::vector<OpDesc>(const OpDesc& forward)>;

using KernelFactory = std::unique_ptr<Kernel> (*)(KernelInit&);

// The role of an operator in the executor.
enum class OpRole { Compute, Feed, Fetch };

class OpTable;

using Texts = std::initializer_list<std::string_view>;

// It has many methods because each fact about an operator has one that states it, in the chained sentence, and one that
// reads it. They take texts as views and functions without captures as pointers: a std::string or a std::function at each
// call takes longer to compile than the rest of the call.
class OpSchema {
 public:
  explicit OpSchema(std::string_view type);
  // Defined in op_schema.cc, because each operator's file would otherwise compile a copy of each.
  OpSchema(const OpSchema&);
  OpSchema(OpSchema&&) noexcept;
  OpSchema& operator=(const OpSchema&);
  OpSchema& operator=(OpSchema&&) noexcept;
  ~OpSchema();

  OpSchema& doc(std::string_view text);
  OpSchema& input(const char* name, const char* doc);
  OpSchema& optional_input(const char* name, const char* doc);
  OpSchema& shape_input(const char* name, const char* doc);  // only the input's shape is read
  OpSchema& input_list(const char* name, const char* doc);
  OpSchema& optional_input_list(const char* name, const char* doc);
  OpSchema& output(const char* name, const char* doc);
  OpSchema& optional_output(const char* name, const char* doc);
  OpSchema& output_list(const char* name, const char* doc);
  OpSchema& optional_output_list(const char* name, const char* doc);

  // The type of the default value, one of AttrValue's or a literal text, is the attribute's: 1.0f is FLOAT, 1 is INT,
  // int64_t{1} is LONG. Defined in op_schema.cc for each of these types.
  template <class Value>
  OpSchema& attr(const char* name, Value default_value, const char* doc);
  template <class Value>
  OpSchema& attr(const char* name, Value default_value, const char* doc, const AttrCheck& check);
  OpSchema& required_attr(const char* name, AttrType type, const char* doc);
  OpSchema& required_attr(const char* name, AttrType type, const char* doc, const AttrCheck& check);

  template <class Function>
  OpSchema& infer(Function function) {
    if constexpr (std::is_convertible_v<Function, void (*)(InferContext&)>) return set_infer(+function);
    else return set_infer(InferFunction(std::move(function)));
  }

  // gradient("relu_grad", {"Out", "Out@GRAD"}, {"X@GRAD"}): the gradient is one operator whose inputs are these ports
  // of the forward operator and their gradients, and whose outputs are these gradients. Attributes are copied. It must
  // accept all data that the forward operator accepts.
  OpSchema& gradient(std::string_view type, Texts inputs, Texts outputs);
  OpSchema& gradient(std::string_view type, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs);
  template <class Rule>
  OpSchema& gradient(Rule rule) {
    if constexpr (std::is_convertible_v<Rule, std::vector<OpDesc> (*)(const OpDesc&)>) return set_gradient(+rule);
    else return set_gradient(GradientRule(std::move(rule)));
  }
  OpSchema& no_gradient(const char* reason);

  // Registers one kernel per element type. The dtype of the first input, or of the port named by dtype_from_input or
  // dtype_from_output, selects it. If all are TiledKernels, the operator may run tile by tile; if all, with the narrow
  // ones, are ElementwiseKernels, on parts of another operator's output.
  template <template <class> class K, class... Ts>
  OpSchema& kernels() {
    (set_kernel(dtype_of<Ts>::value, &make_kernel<K<Ts>>), ...);
    is_tiled_ = (is_tiled_ && ... && std::is_base_of_v<TiledKernel, K<Ts>>);
    is_elementwise_ = (is_elementwise_ && ... && std::is_base_of_v<ElementwiseKernel, K<Ts>>);
    return *this;
  }
  // Registers one kernel for all element types: K moves bytes or selects by itself.
  template <class K>
  OpSchema& kernel_for_any() {
    any_kernel_ = &make_kernel<K>;
    is_tiled_ = is_tiled_ && std::is_base_of_v<TiledKernel, K>;
    is_elementwise_ = is_elementwise_ && std::is_base_of_v<ElementwiseKernel, K>;
    return *this;
  }
  // Kernels that read and write 16-bit floats and compute in float32, in place of casts around a float32 kernel.
  // kernel_dtypes() and documents do not list them: results differ at most in the order of float32 sums.
  template <template <class> class K, class... Ts>
  OpSchema& narrow_kernels() {
    (narrow_kernels_.insert_or_assign(dtype_of<Ts>::value, &make_kernel<K<Ts>>), ...);
    is_elementwise_ = (is_elementwise_ && ... && std::is_base_of_v<ElementwiseKernel, K<Ts>>);
    return *this;
  }
  OpSchema& dtype_from_input(const char* port);
  OpSchema& dtype_from_output(const char* port);

  OpSchema& in_place(const char* input, const char* output);  // the kernel may write the output over this input
  OpSchema& view(const char* input, const char* output);  // the output aliases the input's bytes
  OpSchema& updates(const char* input,
                    const char* output);  // programs usually name the same variable for both
  OpSchema& stores_parts(const char* output);  // kernels with stores_parts() report when they have stored a part of it
  // A batch may be split: entry i along the first axis of each output depends on entry i of these inputs and on all of the
  // others, and has the same bits for any number of entries, where infer gives outputs of as many. Elementwise operators need
  // not say so.
  OpSchema& splits_batch(const char* input);
  OpSchema& shape_only(const char* input);  // only its shape is read, so its memory may be reused before
  OpSchema& accepts_selected_rows(
      const char* input);  // the input may be selected rows; by default only tensors are accepted
  // run() may reject its data, such as an id out of range; on the CPU before it writes. port: the input that alone decides
  // it, besides attributes and shapes; nullptr: any may.
  OpSchema& checks_data(const char* port = nullptr);
  // Only infer sets the sequences of outputs, because an output may have as many rows as an input by chance. Without
  // this, an output for which infer sets none gets the sequences of an input with as many rows.
  OpSchema& custom_lod();
  // The operator works on names, blocks and arrays by this function and has no kernels; see core/control.h.
  OpSchema& control(ControlFunction function);
  OpSchema& role(OpRole role);
  // The kernels do all work through launchers (math/map.h and similar), so they run on a GPU when compiled for one.
  OpSchema& on_gpu();
  OpSchema& cpu_only(const char* reason);  // the reason why it has no GPU kernel

  // The schema of the gradient that gradient(type, ...) names, without doc and kernels; see OpTable::gradient_of.
  OpSchema gradient_schema() const;
  // Checks ports and attributes against the schema and fills in defaults. Throws ProgramError if they do not fit.
  void complete(OpDesc& op) const;
  void run_infer(InferContext& context) const;
  std::vector<OpDesc> make_gradient(const OpDesc& forward) const;
  // nullptr if there is no kernel for the dtype. The narrow ones are included.
  KernelFactory kernel(DType dtype) const;
  bool has_narrow_kernel(DType dtype) const { return narrow_kernels_.count(dtype) > 0; }
  DType kernel_dtype(const OpDesc& op, const std::vector<std::vector<VarInfo>>& inputs,
                     const std::vector<std::vector<VarInfo>>& outputs) const;
  // Throws ProgramError if the schema is incomplete, contradicts itself or names an unknown port.
  void check_schema() const;
  // Throws ProgramError if the gradient is not an operator of `others` or lacks a port that is passed to it.
  void check_gradient(const OpTable& others) const;

  const std::string& type() const { return type_; }
  const std::string& doc() const { return doc_; }
  const std::vector<PortSchema>& inputs() const { return inputs_; }
  const std::vector<PortSchema>& outputs() const { return outputs_; }
  const std::vector<AttrSchema>& attrs() const { return attrs_; }
  const AttrSchema* find_attr(const std::string& name) const;
  bool is_gradient() const;  // by its name
  bool has_gradient() const { return static_cast<bool>(gradient_); }
  const std::string& no_gradient_reason() const { return no_gradient_reason_; }
  std::vector<DType> kernel_dtypes() const;
  const std::vector<std::pair<std::string, std::string>>& in_places() const { return in_places_; }
  const std::vector<std::pair<std::string, std::string>>& views() const { return views_; }
  const std::vector<std::pair<std::string, std::string>>& update_pairs() const { return updates_; }
  bool reads_only_shape(const std::string& input) const;
  const std::vector<std::string>& row_ports() const { return row_ports_; }
  bool splits_batch_of(const std::string& input) const;
  const std::vector<std::string>& batch_ports() const { return batch_ports_; }
  bool has_custom_lod() const { return decides_lod_; }
  bool is_tiled() const { return has_kernels() && is_tiled_; }
  bool is_elementwise() const { return has_kernels() && is_elementwise_; }
  const std::string& output_in_parts() const { return output_in_parts_; }  // "": none
  bool may_fail_validation() const { return checks_data_; }
  const std::string& checked_port() const { return checked_port_; }  // "": not stated
  bool has_kernels() const { return any_kernel_ || !kernels_.empty(); }
  ControlFunction control_function() const { return control_; }
  OpRole role() const { return role_; }
  bool runs_on_gpu() const { return on_gpu_; }
  const std::string& cpu_only_reason() const { return cpu_only_reason_; }

  // The factory of a kernel. Not a lambda: GCC gives its function the same name in all files, so kernels of the same name in
  // unnamed namespaces of two files would be merged. For each Made, unique_ptr<Made> would take longer to compile than most
  // kernels do.
  // Cold, as it runs once for a plan: g++ compiles it for size.
  template <class Made>
  [[gnu::cold]] static std::unique_ptr<Kernel> make_kernel(KernelInit& init) {
    init.add_kept_bytes(sizeof(Made));
    return std::unique_ptr<Kernel>(new Made(init));
  }

 private:
  void set_kernel(DType dtype, KernelFactory factory);
  OpSchema& set_attr(const char* name, AttrValue default_value, const char* doc, const AttrCheck& check);
  OpSchema& set_infer(void (*function)(InferContext&));
  OpSchema& set_infer(InferFunction function);
  OpSchema& set_gradient(std::vector<OpDesc> (*rule)(const OpDesc&));
  OpSchema& set_gradient(GradientRule rule);
  void complete_ports(OpDesc& op) const;
  template <class F>
  void located(F check) const;  // adds the schema's name to a ProgramError
  OpDesc example(bool with_optional_ports) const;  // an operator of this type

  friend struct SchemaAccess;  // in python/testing.cc, where tests create invalid schemas

  std::string type_, doc_, no_gradient_reason_, cpu_only_reason_;
  std::vector<PortSchema> inputs_, outputs_;
  std::vector<AttrSchema> attrs_;
  InferFunction infer_;
  GradientRule gradient_;
  std::map<DType, KernelFactory> kernels_, narrow_kernels_;
  KernelFactory any_kernel_ = nullptr;
  std::string dtype_port_;
  bool dtype_port_is_output_ = false;
  std::vector<std::pair<std::string, std::string>> in_places_, views_, updates_;
  std::vector<std::string> row_ports_, shape_ports_, batch_ports_;
  std::string gradient_type_;  // if gradient() was given ports
  std::vector<std::string> gradient_inputs_, gradient_outputs_;
  std::string output_in_parts_, checked_port_;
  bool is_tiled_ = true, is_elementwise_ = true, checks_data_ = false, decides_lod_ = false, on_gpu_ = false;
  ControlFunction control_ = nullptr;
  OpRole role_ = OpRole::Compute;
};

// Builds an operator description in one expression, for gradient rules.
OpDesc make_op(std::string type, std::vector<Slot> inputs, std::vector<Slot> outputs, std::vector<Attr> attrs = {});
std::vector<std::string> gradient_names(const std::vector<std::string>& names);  // a@GRAD, b@GRAD
bool is_gradient_port(const std::string& port);  // ends in @GRAD
std::string without_grad(const std::string& port);  // the port of which this is the gradient; itself, if it is none

}  // namespace paddle_mini
