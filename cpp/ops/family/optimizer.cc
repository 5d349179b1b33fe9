// Checks of the ports of optimizers.
#include "ops/family/optimizer.h"

namespace paddle_mini {
namespace {

constexpr const char* kNoGradient = "an optimizer's step has no gradient";

void require_dtype(const VarInfo& param, const VarInfo& info, const char* port) {
  require<ShapeError>(info.dtype == param.dtype, "Param is ", name_of(param.dtype), ", ", port, " is ",
                      name_of(info.dtype));
}

void require_like(const VarInfo& param, const VarInfo& info, const char* port) {
  require_dtype(param, info, port);
  require<ShapeError>(same_shape(param.shape, info.shape), "Param has shape ", param.shape.str(), ", ", port, " has ",
                      info.shape.str());
}

void require_one(const VarInfo& param, const VarInfo& info, const char* port) {
  require_dtype(param, info, port);
  require<ShapeError>(!info.shape.known() || info.shape.numel() == 1, port, " has shape ", info.shape.str(),
                      ", it must have one element");
}

void require_count(size_t count, size_t wanted, const std::string& port) {
  require<ProgramError>(count == wanted, port, " has ", count, " variables, Param has ", wanted);
}

}  // namespace

void require_state(const InferContext& c, Ports like_param, Ports numbers) {
  const VarInfo& param = c.input("Param");
  for (const char* port : like_param) require_like(param, c.input(port), port);
  for (const char* port : numbers) require_one(param, c.input(port), port);
}

void require_gradient(const InferContext& c) {
  if (c.input("Grad").kind == VarKind::SelectedRows) require_rows(c, "Grad");
  require_like(c.input("Param"), c.input("Grad"), "Grad");
}

void require_flag(const InferContext& c, const char* port) {
  if (!c.has_input(port)) return;
  const VarInfo& flag = c.input(port);
  require_scalar(c, port);
  require<ShapeError>(flag.dtype == DType::Bool, port, " is ", name_of(flag.dtype), ", it must be bool");
}

void set_updated(InferContext& c, Ports ports) {
  for (const char* port : ports) {
    if (c.has_input(port)) c.set_output(text(port, "Out").c_str(), c.input(port));
  }
}

OpSchema optimizer(const char* type, const std::vector<const char*>& state, Grads grads, Rates rates) {
  bool sparse = grads == Grads::Sparse;
  OpSchema schema(type);
  schema.input("Param", "any shape")
      .input("Grad", sparse ? "shape of Param; a tensor or selected rows" : "shape of Param; a tensor")
      .output("ParamOut", "the same variable as Param")
      .updates("Param", "ParamOut")
      .infer([state](InferContext& c) {
        if (c.has_input("LearningRate")) require_state(c, {}, {"LearningRate"});
        require_gradient(c);
        set_updated(c, {"Param"});
        for (const char* port : state) {
          require_state(c, {port}, {});
          set_updated(c, {port});
        }
      })
      .no_gradient(kNoGradient)
      .on_gpu();
  if (rates == Rates::Required) schema.input("LearningRate", "one element");
  else schema.optional_input("LearningRate", "one element; 1 if omitted, as in programs before PaddlePaddle 2");
  if (sparse) schema.accepts_selected_rows("Grad");
  for (const char* port : state) {
    std::string out = text(port, "Out");
    schema.input(port, "shape of Param")
        .output(out.c_str(), text("the variable of ", port).c_str())
        .updates(port, out.c_str());
  }
  return schema;
}

OpSchema moments_optimizer(const char* type, Grads grads) {
  return optimizer(type, {"Moment1", "Moment2"}, grads)
      .input("Beta1Pow", "one element: beta1^t in step t, counted from 1")
      .input("Beta2Pow", "one element: beta2^t in step t, counted from 1")
      .optional_input("SkipUpdate", "one element, bool: if true, nothing changes")
      .optional_output("Beta1PowOut", "the same variable as Beta1Pow")
      .optional_output("Beta2PowOut", "the same variable as Beta2Pow")
      .updates("Beta1Pow", "Beta1PowOut")
      .updates("Beta2Pow", "Beta2PowOut")
      .infer([](InferContext& c) {
        require_state(c, {"Moment1", "Moment2"}, {"LearningRate", "Beta1Pow", "Beta2Pow"});
        require_gradient(c);
        require_flag(c, "SkipUpdate");
        for (const char* port : {"Beta1Tensor", "Beta2Tensor", "EpsilonTensor"}) {
          if (!c.has_input(port)) continue;
          require_scalar(c, port);
          require_number(c, port);
        }
        set_updated(c, {"Param", "Moment1", "Moment2", "Beta1Pow", "Beta2Pow"});
      });
}

OpSchema adam_optimizer(const char* type, Grads grads) {
  return moments_optimizer(type, grads)
      .optional_input("Beta1Tensor", "one element; replaces beta1")
      .optional_input("Beta2Tensor", "one element; replaces beta2")
      .optional_input("EpsilonTensor", "one element; replaces epsilon")
      .attr("beta1", 0.9f, "decay rate of the first moment", between(0, 1))
      .attr("beta2", 0.999f, "decay rate of the second moment", between(0, 1))
      .attr("epsilon", 1e-8f, "keeps the division finite")
      .attr("use_global_beta_pow", false, "whether the powers are advanced elsewhere");
}

OpSchema merged_optimizer(const char* type, const std::vector<const char*>& state) {
  OpSchema schema(type);
  schema.input_list("Param", "any shapes, of one dtype")
      .input_list("Grad", "for each parameter, its shape; tensors")
      .input_list("LearningRate", "one element each; one for all parameters or one for each")
      .output_list("ParamOut", "the same variable as Param")
      .updates("Param", "ParamOut")
      .no_gradient(kNoGradient)
      .on_gpu();
  for (const char* port : state) {
    std::string out = text(port, "Out");
    schema.input_list(port, "for each parameter, its shape")
        .output_list(out.c_str(), text("the variables of ", port).c_str())
        .updates(port, out.c_str());
  }
  return schema;
}

void infer_each(InferContext& c, const char* input, const char* output) {
  const std::vector<std::string>&from = c.op().input(input), &to = c.op().output(output);
  require<ProgramError>(to.size() == from.size(), output, " has ", to.size(), " variables, ", input, " has ",
                        from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    require<ShapeError>(c.input(input, i).dtype == c.input(input).dtype, input, " has ", name_of(c.input(input).dtype),
                        " and ", name_of(c.input(input, i).dtype));
    // Otherwise one result could overwrite a later input before it is read.
    bool crosses = to[i] != from[i] && std::find(from.begin(), from.end(), to[i]) != from.end();
    require<ProgramError>(!crosses, output, " '", printable(to[i]), "' is the variable of another ", input);
    c.output(output, i) = c.input(input, i);
  }
}

void infer_several(InferContext& c, Ports like_param, Ports numbers) {
  size_t count = c.input_count("Param"), rates = c.input_count("LearningRate");
  for (const char* port : like_param) require_count(c.input_count(port), count, port);
  for (const char* port : numbers) require_count(c.input_count(port), count, port);
  if (rates != 1) require_count(rates, count, "LearningRate");
  const VarInfo& first = c.input("Param");
  for (size_t i = 0; i < rates; ++i) require_one(first, c.input("LearningRate", i), "LearningRate");
  for (size_t i = 0; i < count; ++i) {
    const VarInfo& param = c.input("Param", i);
    require_dtype(first, param, "Param");
    for (const char* port : like_param) require_like(param, c.input(port, i), port);
    for (const char* port : numbers) require_one(param, c.input(port, i), port);
  }
  auto update = [&c](const char* port) { infer_each(c, port, text(port, "Out").c_str()); };
  update("Param");
  for (const char* port : like_param) {
    if (std::string(port) != "Grad") update(port);
  }
  for (const char* port : numbers) update(port);
}

}  // namespace paddle_mini
