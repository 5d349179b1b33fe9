// Finds normalizations after products and folds them.
#include "executor/fold.h"

#include <optional>
#include <utility>

#include "core/running_statistics.h"
#include "executor/variable_uses.h"

namespace paddle_mini {
namespace {

// A product by weights: which of their axes has its output channels, and which axis of its result.
struct Product {
  std::string weight_port;
  int result = -1;
  int weight_axis = 0, result_axis = 0;
  int64_t groups = 1;
};

std::optional<Product> image_product(const Segment& segment, const RunOp& op) {
  bool transposed = op.desc().type == "conv2d_transpose";
  int filter = op.input("Filter"), result = op.output("Output");
  if (filter < 0 || result < 0) return std::nullopt;
  int last = segment.variables[result].info.shape.rank() - 1;
  bool channels_last = attr_of<std::string>(op.desc(), "data_format") == "NHWC";
  return Product{"Filter", result, transposed ? 1 : 0, channels_last ? last : 1,
                 transposed ? attr_of<int32_t>(op.desc(), "groups") : 1};
}

std::optional<Product> matrix_product(const Segment& segment, const RunOp& op) {
  int y = op.input("Y"), x = op.input("X"), result = op.output("Out");
  if (y < 0 || x < 0 || result < 0 || segment.variables[y].info.shape.rank() != 2) return std::nullopt;
  bool is_mul = op.desc().type == "mul";
  if (is_mul && attr_of<int32_t>(op.desc(), "y_num_col_dims") != 1) return std::nullopt;
  if (segment.variables[x].info.shape.rank() < 2) return std::nullopt;
  int axis = !is_mul && attr_of<bool>(op.desc(), "trans_y") ? 0 : 1;
  return Product{"Y", result, axis, segment.variables[result].info.shape.rank() - 1};
}

std::optional<Product> product_of(const Segment& segment, const RunOp& op) {
  const std::string& type = op.desc().type;
  if (type == "conv2d" || type == "depthwise_conv2d" || type == "conv2d_transpose") return image_product(segment, op);
  if (type == "mul" || type == "matmul_v2") return matrix_product(segment, op);
  return std::nullopt;
}

// Y = factor X * Scale / sqrt(Variance + epsilon) ... by channel of an axis, with the ports of fold_normalization.
struct AffineMap {
  int x = -1, y = -1;
  int axis = -1;  // -1: of any axis, because all channels have the same map
  std::vector<std::pair<const char*, int>> parameters = {};
  float epsilon = 0, factor = 1, offset = 0;
};

std::optional<AffineMap> batch_norm_map(const Segment& segment, const std::vector<VariableUse>& uses, const RunOp& op) {
  if (!uses_running_statistics([&](const char* name) { return attr_of<bool>(op.desc(), name); })) return std::nullopt;
  for (auto [input, output] : {std::make_pair("Mean", "MeanOut"), std::make_pair("Variance", "VarianceOut")})
    if (op.output(output) >= 0 && op.output(output) != op.input(input)) return std::nullopt;
  for (const char* port : {"SavedMean", "SavedVariance", "ReserveSpace"}) {
    int v = op.output(port);
    if (v >= 0 && (uses[v].reads || uses[v].is_needed || segment.variables[v].origin != Origin::Temporary))
      return std::nullopt;
  }
  AffineMap map{op.input("X"), op.output("Y")};
  if (map.x < 0) return std::nullopt;
  int last = segment.variables[map.x].info.shape.rank() - 1;
  map.axis = attr_of<std::string>(op.desc(), "data_layout") == "NCHW" ? 1 : last;
  map.parameters = {{"Scale", op.input("Scale")},
                    {"Shift", op.input("Bias")},
                    {"Mean", op.input("Mean")},
                    {"Variance", op.input("Variance")}};
  map.epsilon = attr_of<float>(op.desc(), "epsilon");
  return map;
}

std::optional<AffineMap> map_of(const Segment& segment, const std::vector<VariableUse>& uses, const RunOp& op) {
  const std::string& type = op.desc().type;
  if (type == "batch_norm") return batch_norm_map(segment, uses, op);
  AffineMap map{op.input("X"), op.output("Out")};
  if (map.x < 0) return std::nullopt;
  if (type == "affine_channel") {
    map.axis =
        attr_of<std::string>(op.desc(), "data_layout") == "NCHW" ? 1 : segment.variables[map.x].info.shape.rank() - 1;
    map.parameters = {{"Scale", op.input("Scale")}, {"Shift", op.input("Bias")}};
    return map;
  }
  if (type != "scale" || op.input("ScaleTensor") >= 0) return std::nullopt;
  map.factor = attr_of<float>(op.desc(), "scale");
  map.offset = attr_of<float>(op.desc(), "bias") * (attr_of<bool>(op.desc(), "bias_after_scale") ? 1.0f : map.factor);
  return map;
}

class Fold {
 public:
  Fold(Segment segment, const OpTable& operators)
      : segment_(std::move(segment)), operators_(operators), uses_(find_variable_uses(segment_)),
        before_(segment_.ops.size()), removed_(segment_.ops.size(), false) {}

  Segment run() {
    size_t count = segment_.ops.size();
    for (size_t i = 0; i < count; ++i) {
      const std::string& type = segment_.ops[i].desc().type;
      if (type == "batch_norm" || type == "affine_channel" || type == "scale") try_at(static_cast<int>(i));
    }
    std::vector<RunOp> ops = std::exchange(segment_.ops, {});
    for (size_t i = 0; i < count; ++i) {
      for (RunOp& op : before_[i]) segment_.ops.push_back(std::move(op));
      if (!removed_[i]) segment_.ops.push_back(std::move(ops[i]));
    }
    return std::move(segment_);
  }

 private:
  RunOp& op(int i) { return segment_.ops[static_cast<size_t>(i)]; }
  const VarInfo& info(int v) const { return segment_.variables[v].info; }

  bool is_constant(int v, DType dtype) const {
    return segment_.variables[v].constant && info(v).kind == VarKind::Tensor && info(v).dtype == dtype;
  }

  // Whether `add` adds a constant with one element for each of the channels on this axis to the result of another
  // operator.
  bool adds_channels(const RunOp& add, int axis, int64_t channels) const {
    int x = add.input("X"), y = add.input("Y"), out = add.output("Out");
    if (add.desc().type != "elementwise_add" || x < 0 || y < 0 || out < 0 || !add.copies_after.empty()) return false;
    const Shape& shape = info(y).shape;
    if (!is_constant(y, info(x).dtype) || !(info(x) == info(out)) || shape.numel() != channels) return false;
    int begin = attr_of<int32_t>(add.desc(), "axis");
    if (begin < 0) begin = info(x).shape.rank() - shape.rank();
    if (channels == 1) return true;
    return axis >= begin && axis < begin + shape.rank() && shape[axis - begin] == channels;
  }

  void try_at(int at) {
    const RunOp& norm = op(at);
    std::optional<AffineMap> map = map_of(segment_, uses_, norm);
    if (!map || map->y < 0 || !norm.copies_after.empty() || !is_link(segment_, uses_, map->x)) return;
    if (uses_[map->y].writes != 1 || !(info(map->x) == info(map->y))) return;
    DType dtype = info(map->x).dtype;
    if (dtype != DType::Float32 && dtype != DType::Float64) return;
    for (const auto& [port, v] : map->parameters)
      if (v >= 0 && !is_constant(v, dtype)) return;
    int producer = uses_[map->x].writer, add = -1, result = map->x;
    if (op(producer).desc().type == "elementwise_add") {
      add = producer;
      result = op(add).input("X");
      if (result < 0 || !is_link(segment_, uses_, result)) return;
      producer = uses_[result].writer;
    }
    std::optional<Product> product = product_of(segment_, op(producer));
    if (!product || product->result != result || !op(producer).copies_after.empty()) return;
    if (op(producer).outputs.size() != 1) return;
    int weight = op(producer).input(product->weight_port);
    if (weight < 0 || !is_constant(weight, dtype)) return;
    int64_t channels = info(result).shape[product->result_axis];
    if (channels != info(weight).shape[product->weight_axis] * product->groups) return;
    if (map->axis >= 0 && map->axis != product->result_axis) return;
    if (add >= 0 && !adds_channels(op(add), product->result_axis, channels)) return;
    replace({at, add, producer, weight, channels}, *map, *product);
  }

  struct Found {
    int norm, add, product;  // operators; add may be -1
    int weight;
    int64_t channels;
  };

  void replace(const Found& found, const AffineMap& map, const Product& product) {
    bool needs_bias = found.add >= 0 || !map.parameters.empty() || map.offset != 0;
    int new_weight = add_variable(found.weight, info(found.weight).shape);
    int new_bias = needs_bias ? add_variable(found.weight, Shape{found.channels}) : -1;
    RunOp once = fold_op(found, map, product, new_weight, new_bias);
    if (!derive(segment_, once)) return;
    before_[static_cast<size_t>(found.product)].push_back(std::move(once));
    RunOp& producer = op(found.product);
    producer.inputs[slot_of(producer, product.weight_port)][0] = new_weight;
    removed_[static_cast<size_t>(found.norm)] = true;
    int last = found.product;
    if (found.add >= 0) {
      last = found.add;
      op(last) = add_op(op(last), product, op(last).input("X"), new_bias, map.y);
    } else if (needs_bias) {
      last = found.norm;
      removed_[static_cast<size_t>(last)] = false;
      op(last) = add_op(op(last), product, map.x, new_bias, map.y);
    } else {
      producer.outputs = {{map.y}};
    }
    if (last != found.norm) uses_[map.x] = VariableUse{};
    uses_[map.y].writer = last;
  }

  static size_t slot_of(const RunOp& op, const std::string& port) {
    size_t s = 0;
    while (op.desc().inputs[s].name != port) ++s;
    return s;
  }

  int add_variable(int like, Shape shape) {
    RunVariable variable{segment_.variables[like].name, info(like), Origin::Temporary};
    variable.info.shape = std::move(shape);
    uses_.emplace_back();
    return segment_.add(std::move(variable));
  }

  RunOp fold_op(const Found& found, const AffineMap& map, const Product& product, int new_weight, int new_bias) {
    std::vector<Slot> inputs, outputs;
    Ports from, to;
    auto add = [&](std::vector<Slot>& slots, Ports& ports, const char* port, int v) {
      if (v < 0) return;
      slots.push_back({port, {segment_.variables[v].name}});
      ports.push_back({v});
    };
    add(inputs, from, "Filter", found.weight);
    add(inputs, from, "Bias", found.add >= 0 ? op(found.add).input("Y") : -1);
    for (const auto& [port, v] : map.parameters) add(inputs, from, port, v);
    add(outputs, to, "FilterOut", new_weight);
    add(outputs, to, "BiasOut", new_bias);
    return replacement_of(op(found.norm), operators_,
                          make_op("fold_normalization", std::move(inputs), std::move(outputs),
                                  {{"axis", product.weight_axis},
                                   {"groups", static_cast<int32_t>(product.groups)},
                                   {"epsilon", map.epsilon},
                                   {"factor", map.factor},
                                   {"offset", map.offset}}),
                          std::move(from), std::move(to));
  }

  RunOp add_op(const RunOp& of, const Product& product, int x, int bias, int out) const {
    auto name = [&](int v) { return segment_.variables[v].name; };
    return replacement_of(of, operators_,
                          make_op("elementwise_add", {{"X", {name(x)}}, {"Y", {name(bias)}}}, {{"Out", {name(out)}}},
                                  {{"axis", product.result_axis}}),
                          {{x}, {bias}}, {{out}});
  }

  Segment segment_;
  const OpTable& operators_;
  std::vector<VariableUse> uses_;
  std::vector<std::vector<RunOp>> before_;  // operators to insert before each one
  std::vector<bool> removed_;
};

}  // namespace

Segment fold(Segment segment, const Placement& placement) {
  if (!may_replace_operators(segment, placement)) return segment;
  return Fold(std::move(segment), placement.manager.operators()).run();
}

}  // namespace paddle_mini
