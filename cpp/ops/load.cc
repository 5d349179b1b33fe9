// load: Out = the tensor in a file; load_combine: several tensors in one file
#include "core/op_table.h"

namespace paddle_mini {
namespace {

// Throws if the file does not contain exactly the tensors of Out.
void run_load(ControlRun& run) {
  require<OpError>(!run.attr<bool>("load_as_fp16"), "load_as_fp16 is not supported: cast after loading");
  const std::string& path = run.attr<std::string>("file_path");
  std::vector<Tensor> tensors = run.read_tensors(path);
  size_t count = run.op.output("Out").size();
  require<OpError>(tensors.size() == count, "'", printable(path), "' holds ", tensors.size(), " tensors, Out has ",
                   count);
  for (size_t i = 0; i < count; ++i) run.set_output("Out", i, tensor_variable(std::move(tensors[i])));
}

OpSchema with_attributes(OpSchema schema) {
  return schema.required_attr("file_path", AttrType::String, "the file")
      .attr("load_as_fp16", false, "must be false")
      .no_gradient("it has no inputs")
      .control(&run_load);
}

AttrCheck only_false() {
  return [](const std::string& name, const AttrValue& value) {
    require<ProgramError>(!std::get<bool>(value), "attribute '", name, "' must be false");
  };
}

}  // namespace

void define_load(OpTable& ops) {
  ops.add(with_attributes(
      OpSchema("load")
          .doc("Out = the tensor in a file of PaddlePaddle's format. Only executors with files=True run this operator.")
          .output("Out", "a tensor")
          .attr("seek", int64_t{-1}, "must be -1: the whole file", between(-1, -1))
          .attr("shape", std::vector<int64_t>{}, "not used: the file determines it")));
  ops.add(with_attributes(
      OpSchema("load_combine")
          .doc("Out = the tensors in a file, in order. Only executors with files=True run this operator.")
          .output_list("Out", "one tensor for each tensor in the file")
          .attr("model_from_memory", false, "must be false", only_false())));
}

}  // namespace paddle_mini
