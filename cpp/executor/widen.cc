// Inserts casts around operators that run in a wider element type.
#include "executor/widen.h"

#include <map>
#include <utility>

#include "core/promotion.h"
#include "core/widening.h"
#include "executor/op_context.h"

namespace paddle_mini {
namespace {

// Attributes that hold an element type, as InferContext::dtype_attr reads them.
constexpr const char* kDTypeAttrs[] = {"dtype", "in_dtype", "out_dtype"};

OpDesc with_dtype(OpDesc desc, DType from, DType to) {
  for (const char* name : kDTypeAttrs) {
    const AttrValue* value = desc.attr(name);
    const int32_t* number = value ? std::get_if<int32_t>(value) : nullptr;
    if (number && *number == static_cast<int32_t>(from)) desc.set_attr(name, AttrValue(static_cast<int32_t>(to)));
  }
  return desc;
}

std::vector<std::vector<DType>> dtypes_of(const std::vector<std::vector<VarInfo>>& ports) {
  std::vector<std::vector<DType>> dtypes;
  for (const auto& slot : ports) {
    dtypes.emplace_back();
    for (const VarInfo& info : slot) dtypes.back().push_back(info.dtype);
  }
  return dtypes;
}

bool is_narrow_integer(DType dtype) { return dtype == DType::Int8 || dtype == DType::UInt8 || dtype == DType::Int16; }

class Casts {
 public:
  Casts(Segment segment, const Placement& placement)
      : segment_(std::move(segment)), placement_(placement), cast_(placement.manager.operators().at("cast")) {}

  Segment run() {
    std::vector<RunOp> ops = std::exchange(segment_.ops, {});
    for (RunOp& op : ops) {
      std::optional<Widened> wide;
      if (!runs_as_it_is(op))
        wide = with_op_context({op.desc(), op.index, segment_.block}, [&] {
          return widened(*op.op, segment_.infos(op.inputs), segment_.infos(op.outputs),
                         runs_host_kernels(op.desc(), placement_));
        });
      if (wide) add(std::move(op), std::move(*wide));
      else segment_.ops.push_back(std::move(op));
    }
    return std::move(segment_);
  }

 private:
  // A fast check that holds for most operators.
  bool runs_as_it_is(const RunOp& op) const {
    bool has_kernels = true, any_complex = false, any_real = false;
    for (const Ports* ports : {&op.inputs, &op.outputs}) {
      ports->each([&](int v) {
        const DType dtype = segment_.variables[v].info.dtype;
        has_kernels = has_kernels && op.schema().kernel(dtype) && !op.schema().has_narrow_kernel(dtype);
        (is_complex(dtype) ? any_complex : any_real) = true;
      });
    }
    return has_kernels && !(any_complex && any_real);
  }

  void add(RunOp op, Widened wide) {
    std::map<int, int> casts;  // the stand-in of each variable
    auto stand_in = [&](int v, DType dtype) {
      auto [at, is_new] = casts.try_emplace(v, static_cast<int>(segment_.variables.size()));
      if (is_new) {
        RunVariable copy{segment_.variables[v].name, segment_.variables[v].info, Origin::Temporary};
        copy.info.dtype = dtype;
        segment_.add(std::move(copy));
      }
      return std::make_pair(at->second, is_new);
    };
    for (size_t s = 0; s < op.inputs.size(); ++s) {
      for (size_t i = 0; i < op.inputs[s].size(); ++i) {
        int& v = op.inputs[s][i];
        if (v < 0 || segment_.variables[v].info.dtype == wide.inputs[s][i]) continue;
        auto [cast, is_new] = stand_in(v, wide.inputs[s][i]);
        if (is_new) add_cast(op, v, cast);
        v = cast;
      }
    }
    std::vector<std::pair<int, int>> back;
    for (size_t s = 0; s < op.outputs.size(); ++s) {
      for (size_t i = 0; i < op.outputs[s].size(); ++i) {
        int& v = op.outputs[s][i];
        if (v < 0 || segment_.variables[v].info.dtype == wide.outputs[s][i]) continue;
        int cast = stand_in(v, wide.outputs[s][i]).first;
        back.emplace_back(cast, v);
        v = cast;
      }
    }
    op.op = std::make_shared<VerifiedOp>(std::move(wide.op));
    auto copies_after = std::exchange(op.copies_after, {});
    segment_.ops.push_back(op);
    for (auto [from, to] : back) add_cast(op, from, to);
    segment_.ops.back().copies_after = std::move(copies_after);
  }

  void add_cast(const RunOp& op, int from, int to) {
    segment_.ops.push_back(cast_beside(segment_, cast_, op, from, to));
  }

  Segment segment_;
  const Placement& placement_;
  const OpSchema& cast_;
};

}  // namespace

RunOp cast_beside(const Segment& segment, const OpSchema& schema, const RunOp& op, int from, int to) {
  auto number = [&](int v) { return static_cast<int32_t>(segment.variables[v].info.dtype); };
  const std::string& name = segment.variables[from].name;
  OpDesc desc =
      make_op("cast", {{"X", {name}}}, {{"Out", {name}}}, {{"in_dtype", number(from)}, {"out_dtype", number(to)}});
  if (const AttrValue* device = op.desc().attr("op_device")) desc.set_attr("op_device", *device);
  name_user_of(desc, op.desc());
  schema.complete(desc);
  return {op.index, std::make_shared<VerifiedOp>(VerifiedOp{&schema, std::move(desc)}), {{from}}, {{to}}};
}

std::optional<Widened> widened(const VerifiedOp& op, const std::vector<std::vector<VarInfo>>& inputs,
                               const std::vector<std::vector<VarInfo>>& outputs, bool narrow_kernels) {
  DType narrow = op.schema->kernel_dtype(op.desc, inputs, outputs);
  DType wide = computes_in(*op.schema, narrow, narrow_kernels).value_or(narrow);
  if (std::optional<DType> complex = promotes_to(*op.schema, inputs)) {
    wide = *complex;
    if (narrow == wide) narrow = real_of(wide);
  }
  bool changes = wide != narrow;
  std::vector<std::vector<VarInfo>> wide_inputs = inputs;
  for (size_t s = 0; s < inputs.size(); ++s) {
    bool any_integers = takes_any_integers(*op.schema, op.desc.inputs[s].name);
    for (VarInfo& info : wide_inputs[s]) {
      if (info.dtype == narrow) info.dtype = wide;
      if (!any_integers || !is_narrow_integer(info.dtype)) continue;
      info.dtype = DType::Int64;
      changes = true;
    }
  }
  if (!changes) return std::nullopt;
  Widened result{wide, {op.schema, with_dtype(op.desc, narrow, wide), op.is_control}, dtypes_of(wide_inputs), {}};
  InferContext context(result.op.desc, std::move(wide_inputs));
  op.schema->run_infer(context);
  result.outputs = dtypes_of(context.outputs());
  return result;
}

StandIns::StandIns(const Widened& wide, std::vector<std::vector<Variable*>> inputs,
                   std::vector<std::vector<Variable*>> outputs, const OpTable& operators)
    : cast_(operators.at("cast")), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
  auto replace = [&](std::vector<std::vector<Variable*>>& ports, const std::vector<std::vector<DType>>& dtypes,
                     auto note) {
    for (size_t s = 0; s < ports.size(); ++s) {
      for (size_t i = 0; i < ports[s].size(); ++i) {
        Variable*& variable = ports[s][i];
        if (!variable || variable->tensor.dtype == dtypes[s][i]) continue;
        Variable* wider = stand_in(variable, dtypes[s][i]);
        note(variable, wider);
        variable = wider;
      }
    }
  };
  replace(inputs_, wide.inputs, [&](Variable* variable, Variable* wider) { before_.emplace_back(variable, wider); });
  replace(outputs_, wide.outputs, [&](Variable* variable, Variable* wider) { after_.emplace_back(wider, variable); });
}

Variable* StandIns::stand_in(Variable* of, DType dtype) {
  made_.emplace_back();
  VarInfo info = of->info();
  info.dtype = dtype;
  made_.back().describe(info);
  Tensor& tensor = made_.back().tensor;
  tensor.shape = of->tensor.shape;
  tensor.memory = allocate(tensor.bytes());
  tensor.data = tensor.memory.get();
  return &made_.back();
}

void StandIns::cast(KernelContext& context, Variable* from, Variable* to) const {
  OpDesc desc =
      make_op("cast", {{"X", {"X"}}}, {{"Out", {"Out"}}}, {{"out_dtype", static_cast<int32_t>(to->tensor.dtype)}});
  KernelInit init(desc, {{from}}, {{to}}, context.threads);
  cast_.kernel(from->tensor.dtype)(init)->run(context);
}

void StandIns::read(KernelContext& context) {
  for (auto [from, to] : before_) cast(context, from, to);
}

void StandIns::write_back(KernelContext& context) {
  for (auto [from, to] : after_) cast(context, from, to);
}

Segment widen(Segment segment, const Placement& placement) { return Casts(std::move(segment), placement).run(); }

}  // namespace paddle_mini
