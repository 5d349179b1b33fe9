// coalesce_tensor: lays out several tensors contiguously in one
#include "core/op_table.h"
#include "math/fill.h"

namespace paddle_mini {
namespace {

// The number of elements of FusedOutput that a tensor of `numel` elements occupies. Pages of PaddlePaddle's CPU memory
// have 4096 bytes.
template <class Context>
int64_t room_of(const Context& c, int64_t numel, DType dtype) {
  if (!c.template attr<bool>("use_align")) return numel;
  int64_t given = c.template attr<int32_t>("user_defined_size_of_dtype"), page = c.template attr<int32_t>("align_size");
  int64_t size = given > 0 ? given : static_cast<int64_t>(size_of(dtype));
  if (page <= 0) page = 4096;
  return (Shape{numel, size}.numel() + page - 1) / page * page / size;
}

template <class T>
struct CoalesceTensorKernel : Kernel {
  std::vector<In<T>> inputs;
  std::vector<Out<T>> outputs;
  std::vector<int64_t> offsets;
  Out<T> fused;
  bool copies;
  T constant = 0;

  explicit CoalesceTensorKernel(KernelInit& init)
      : inputs(in_list<T>(init, "Input")), fused(init, "FusedOutput"), copies(init.attr<bool>("copy_data")) {
    if (init.attr<bool>("persist_output") && !init.attr<bool>("set_constant")) copies = true;
    int64_t offset = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      outputs.emplace_back(init, "Output", i);
      offsets.push_back(offset);
      offset += room_of(init, inputs[i].numel(), dtype_of<T>::value);
    }
    if (init.attr<bool>("set_constant")) constant = number_as<T>(static_cast<double>(init.attr<float>("constant")));
  }

  void run(KernelContext& context) override {
    fill_n(context, fused.data(), fused.numel(), copies ? T(0) : constant);
    for (size_t i = 0; i < inputs.size(); ++i) {
      T* piece = fused.data() + offsets[i];
      if (copies) copy_n(context, inputs[i].data(), inputs[i].numel(), piece);
      copy_n(context, static_cast<const T*>(piece), inputs[i].numel(), outputs[i].data());
    }
  }
};

bool same_names(const InferContext& c) {
  const std::vector<std::string>* names[2] = {nullptr, nullptr};
  for (const Slot& slot : c.op().inputs) {
    if (slot.name == "Input") names[0] = &slot.arguments;
  }
  for (const Slot& slot : c.op().outputs) {
    if (slot.name == "Output") names[1] = &slot.arguments;
  }
  return names[0] && names[1] && *names[0] == *names[1];
}

void infer_coalesce_tensor(InferContext& c) {
  require_tensors(c);
  DType dtype = c.dtype_attr("dtype");
  size_t count = c.input_count("Input");
  require<ProgramError>(count > 0 && c.output_count("Output") == count, "Input has ", count, " tensors, Output ",
                        c.output_count("Output"), ": both must have the same number, at least one");
  require<ProgramError>(c.attr<int32_t>("user_defined_size_of_dtype") != 0,
                        "attribute 'user_defined_size_of_dtype' is 0");
  bool keeps = c.attr<bool>("persist_output") && !c.attr<bool>("copy_data") && !c.attr<bool>("set_constant");
  require<ProgramError>(
      !keeps || same_names(c),
      "persist_output without copy_data keeps the values of Output: Output must name the variables of Input");
  int64_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    const VarInfo& info = c.input("Input", i);
    require<ShapeError>(info.dtype == dtype, "Input is ", name_of(info.dtype), ", but attribute 'dtype' is ",
                        name_of(dtype));
    int64_t numel = info.shape.numel(0, info.shape.rank());
    require<ShapeError>(numel != 0, "Input ", i, " has shape ", info.shape.str(), ": it is empty");
    total = total < 0 || numel < 0 ? -1 : total + room_of(c, numel, dtype);
    c.output("Output", i) = info;
  }
  c.set_output("FusedOutput", dtype, Shape{total});
}

}  // namespace

void define_coalesce_tensor(OpTable& ops) {
  ops.add(OpSchema("coalesce_tensor")
              .doc("FusedOutput holds the tensors one after the other; with use_align, each starts at a multiple of "
                   "the page size. Each Output is a tensor of Input's shape with the same values. Elements without a "
                   "source are 0.")
              .input_list("Input", "any shapes, of one element type")
              .output_list("Output", "the shapes of Input; usually the same variables")
              .output("FusedOutput", "[elements], including the gaps between tensors")
              .required_attr("dtype", AttrType::Int, "element type of all tensors")
              .attr("copy_data", false, "whether Input is copied to Output")
              .attr("set_constant", false,
                    "without copy_data: whether all elements, also those of gaps, are `constant`")
              .attr("constant", 0.0f, "the constant")
              .attr("persist_output", false, "without these two: whether Output keeps its values")
              .attr("use_align", true, "whether each tensor starts at a multiple of the page size")
              .attr("align_size", -1, "page size in bytes; below 1: 4096")
              .attr("user_defined_size_of_dtype", -1,
                    "size of an element in bytes for computing offsets; -1: that of dtype", between(-1, 16))
              .infer(infer_coalesce_tensor)
              .no_gradient("it prepares parameters before training")
              .updates("Input", "Output")
              .on_gpu()
              .kernels<CoalesceTensorKernel, float, double, int32_t>());
}

}  // namespace paddle_mini
