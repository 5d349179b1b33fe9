// save: writes X to a file; save_combine: writes several tensors to one file
#include "core/op_table.h"

namespace paddle_mini {
namespace {

void run_save(ControlRun& run) {
  require<OpError>(!run.attr<bool>("save_as_fp16"), "save_as_fp16 is not supported: cast before saving");
  std::vector<const Variable*> tensors;
  for (size_t i = 0; i < run.op.input("X").size(); ++i) {
    tensors.push_back(&run.input("X", i));
    require<OpError>(tensors.back()->kind == VarKind::Tensor, "X '", run.op.input("X")[i], "' is ",
                     name_of(tensors.back()->kind), ", tensors can be saved");
  }
  run.write_tensors(run.attr<std::string>("file_path"), tensors);
}

OpSchema with_file_attributes(OpSchema schema) {
  return schema.required_attr("file_path", AttrType::String, "the file; its folder must exist")
      .attr("overwrite", true, "not used: an existing file is always replaced, atomically")
      .attr("save_as_fp16", false, "must be false")
      .no_gradient("it has no outputs")
      .control(&run_save);
}

}  // namespace

void define_save(OpTable& ops) {
  ops.add(with_file_attributes(
      OpSchema("save")
          .doc("Writes X to a file in PaddlePaddle's format. Only executors with files=True run this operator.")
          .input("X", "a tensor")));
  ops.add(with_file_attributes(
      OpSchema("save_combine")
          .doc("Writes tensors to one file, one after the other. Only executors with files=True run this operator.")
          .input_list("X", "tensors")
          .optional_output("Y", "nothing is written to it")
          .attr("save_to_memory", false, "must be false", [](const std::string& name, const AttrValue& value) {
            require<ProgramError>(!std::get<bool>(value), "attribute '", name, "' must be false");
          })));
}

}  // namespace paddle_mini
