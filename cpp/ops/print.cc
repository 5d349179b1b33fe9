// print: Out = In, printed to standard output
#include <cstdio>

#include "core/op_table.h"
#include "ops/family/shown_elements.h"

namespace paddle_mini {
namespace {

void show_tensor(ControlRun& run, const Tensor& tensor) {
  TextOfElements out;
  const std::string& message = run.attr<std::string>("message");
  if (!message.empty()) out << message << "\n";
  if (run.attr<bool>("print_tensor_name")) out << "  name: " << run.op.input("In")[0] << "\n";
  if (run.attr<bool>("print_tensor_lod") && !tensor.lod.empty()) {
    out << "  lod:";
    for (const auto& level : tensor.lod)
      for (size_t i = 0; i < level.size(); ++i)
        out << (i ? " " : " [") << level[i] << (i + 1 == level.size() ? "]" : "");
    out << "\n";
  }
  if (run.attr<bool>("print_tensor_shape")) out << "  shape: " << tensor.shape.str() << "\n";
  if (run.attr<bool>("print_tensor_type")) out << "  dtype: " << name_of(tensor.dtype) << "\n";
  int32_t most = run.attr<int32_t>("summarize");
  out << "  data: [";
  write_elements(out, tensor, most < 0 ? tensor.shape.numel() : most);
  out << "]\n";
  std::fputs(out.str().c_str(), stdout);
  std::fflush(stdout);
}

bool wanted(ControlRun& run) {
  const std::string& phase = run.attr<std::string>("print_phase");
  bool forward = run.attr<bool>("is_forward");
  if (phase == (forward ? "BACKWARD" : "FORWARD")) return false;
  int32_t first_n = run.attr<int32_t>("first_n");
  return first_n <= 0 || run.context().printed[&run.op]++ < first_n;
}

void run_print(ControlRun& run) {
  const Variable& value = run.input("In");
  if (value.kind == VarKind::Tensor && wanted(run)) show_tensor(run, value.tensor);
  run.set_output("Out", 0, run.share_input("In"));
}

}  // namespace

void define_print(OpTable& ops) {
  ops.add(OpSchema("print")
              .doc("Out = In. The operator prints In on standard output, and its gradient prints the gradient.")
              .input("In", "any variable; only tensors are printed")
              .output("Out", "In")
              .attr("first_n", -1, "how many times to print; -1: always")
              .attr("message", "", "text printed before")
              .attr("summarize", -1, "the number of elements to print; -1: all")
              .attr("print_tensor_name", true, "print the name")
              .attr("print_tensor_type", true, "print the element type")
              .attr("print_tensor_shape", true, "print the shape")
              .attr("print_tensor_layout", true, "not used: there is one layout")
              .attr("print_tensor_lod", true, "print the offsets of sequences")
              .attr("print_phase", "BOTH", "when", one_of({"FORWARD", "BACKWARD", "BOTH"}))
              .attr("is_forward", true, "false: this prints a gradient")
              .gradient([](const OpDesc& forward) {
                OpDesc op = make_op("print", {{"In", gradient_names(forward.output("Out"))}},
                                    {{"Out", gradient_names(forward.input("In"))}}, forward.attrs);
                op.set_attr("is_forward", false);
                return std::vector<OpDesc>{op};
              })
              .control(&run_print));
}

}  // namespace paddle_mini
