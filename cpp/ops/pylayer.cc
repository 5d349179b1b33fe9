// pylayer: runs a block that has a gradient block of its own, as PaddlePaddle's static_pylayer makes it
#include "core/op_table.h"
#include "math/cpu/accumulate.h"

namespace paddle_mini {
namespace {

void run_pylayer(ControlRun& run) {
  const auto& blocks = run.attr<std::vector<BlockIndex>>("blocks");
  require<ProgramError>(blocks.size() == 1 || blocks.size() == 2, "attribute 'blocks' has ", blocks.size(),
                        " blocks, it must have the block, or the block and its gradient");
  auto inside = std::make_shared<Frame>(blocks[0].index, &run.frame);
  run.run_block(blocks[0].index, *inside);
  Variable scopes;
  scopes.kind = VarKind::StepScopes;
  if (run.has_gradient(blocks[0].index)) scopes.frames.push_back(inside);
  run.set_output("Scope", 0, std::move(scopes));
}

void run_pylayer_grad(ControlRun& run) {
  auto& frames = run.input("Scope").frames;
  require<OpError>(!frames.empty(), "Scope has no values: the operator pylayer has not kept them");
  run.run_block(run.block_attr("backward_block"), *frames[0]);
  const auto& names = run.op.output("Input@GRAD");
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == kEmptyName) continue;
    require<ProgramError>(i < run.op.input("Input").size(), "Input@GRAD has ", names.size(), " variables, Input fewer");
    Variable* gradient = frames[0]->own(run.op.input("Input")[i] + kGradSuffix);
    bool there = gradient && gradient->has_value();
    run.set_output("Input@GRAD", i, there ? *gradient : zeros_like(run.input("Input", i)));
  }
  frames.clear();
}

}  // namespace

void define_pylayer(OpTable& ops) {
  ops.add(OpSchema("pylayer")
              .doc("Runs the first of its blocks. The second one is that of its gradient, which pylayer_grad runs.")
              .optional_input_list("Input", "the variables that the block reads")
              .optional_output_list("Out", "the variables that the block writes")
              .optional_output("Scope", "the values that the gradient reads")
              .required_attr("blocks", AttrType::Blocks, "the block, and the block of the gradient if there is one")
              .no_gradient("programs that hold it hold its gradient, too")
              .control(&run_pylayer));
  ops.add(OpSchema("pylayer_grad")
              .doc("Runs the gradient block of pylayer; zeros for an input for which it has none.")
              .optional_input_list("Input", "as in pylayer")
              .optional_input_list("Out", "as in pylayer")
              .optional_input_list("Out@GRAD", "gradients of the variables that the block writes")
              .input("Scope", "from pylayer")
              .optional_output_list("Input@GRAD", "gradients of Input")
              .required_attr("backward_block", AttrType::Block, "the gradient block")
              .control(&run_pylayer_grad));
}

}  // namespace paddle_mini
