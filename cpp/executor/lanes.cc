// Goes over the operators once; decides for each whether it runs in lanes, and adds the copies that it needs.
#include "executor/lanes.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "executor/variable_uses.h"

namespace paddle_mini {
namespace {

constexpr int64_t kRowBytes = 1 << 17;  // inputs of one row of results, which are read for every few filters
constexpr int64_t kLeastFilters = 4;  // that are computed together

// Whether the operator works on elements, whatever their order.
bool works_by_element(std::string type) {
  static const std::unordered_set<std::string> types = {"assign",
                                                        "elementwise_add",
                                                        "elementwise_max",
                                                        "elementwise_min",
                                                        "elementwise_mul",
                                                        "elementwise_sub",
                                                        "elu",
                                                        "gelu",
                                                        "hard_sigmoid",
                                                        "hard_swish",
                                                        "leaky_relu",
                                                        "mish",
                                                        "relu",
                                                        "relu6",
                                                        "scale",
                                                        "sigmoid",
                                                        "silu",
                                                        "softplus",
                                                        "sum",
                                                        "swish",
                                                        "tanh"};
  constexpr std::string_view kGradient = "_grad";
  if (type.size() > kGradient.size() && type.compare(type.size() - kGradient.size(), kGradient.size(), kGradient) == 0)
    type.resize(type.size() - kGradient.size());
  return types.count(type) > 0;
}

class Lanes {
 public:
  Lanes(const Segment& segment, const OpTable& operators)
      : segment_(segment), operators_(operators), lanes_(operators.float_lanes()), uses_(find_variable_uses(segment)),
        in_lanes_(segment.variables.size(), false), copy_(segment.variables.size(), -1) {}

  Segment run() {
    for (const RunOp& op : segment_.ops) {
      if (begins(op)) add_convolution(op);
      else if (continues(op)) put_in_lanes(op, [&](int v) { return shape(v).rank() == 4; });
      else add_in_images(op);
    }
    Segment changed = segment_;
    if (2 * added_.size() > convolutions_) return changed;
    for (size_t v = 0; v < in_lanes_.size(); ++v)
      if (in_lanes_[v]) changed.variables[v].info.shape = in_lanes(changed.variables[v].info.shape);
    changed.ops = std::move(ops_);
    std::move(added_.begin(), added_.end(), std::back_inserter(changed.variables));
    return changed;
  }

 private:
  const RunVariable& variable(int v) const { return segment_.variables[static_cast<size_t>(v)]; }
  const Shape& shape(int v) const { return variable(v).info.shape; }
  const VariableUse& use(int v) const { return uses_[static_cast<size_t>(v)]; }

  Shape in_lanes(const Shape& images) const { return {images[0] / lanes_, images[1], images[2], images[3] * lanes_}; }

  // Whether the variable holds images that fill the lanes, and has one value.
  bool is_images(int v) const {
    if (v < 0) return false;
    const VarInfo& info = variable(v).info;
    const int writes = variable(v).origin == Origin::Temporary ? 1 : 0;
    const bool passes = variable(v).origin == Origin::Temporary || variable(v).origin == Origin::Fed;
    return passes && info.kind == VarKind::Tensor && info.dtype == DType::Float32 && info.shape.rank() == 4 &&
           info.shape.numel() > 0 && info.shape[0] % lanes_ == 0 && info.lod.empty() && use(v).writes == writes;
  }
  bool may_be_in_lanes(int v) const {
    return is_images(v) && variable(v).origin == Origin::Temporary && !use(v).is_needed;
  }

  // Whether the operator is a convolution, or the gradient of one, that gains from lanes.
  bool begins(const RunOp& op) const {
    const bool forward = op.desc().type == "conv2d";
    if ((!forward && op.desc().type != "conv2d_grad") || !op.copies_after.empty()) return false;
    if (std::get<std::string>(*op.desc().attr("data_format")) == "NHWC") return false;
    const int x = op.input("Input"), filter = op.input("Filter");
    const int out = forward ? op.output("Output") : op.input("Output@GRAD"), x_gradient = op.output("Input@GRAD");
    if (!is_images(x) || !is_images(out) || filter < 0 || filter == x || filter == out) return false;
    if (forward ? !may_be_in_lanes(out) : x_gradient >= 0 && !may_be_in_lanes(x_gradient)) return false;
    const Shape& window = shape(filter);
    const int64_t filters = window[0] / std::get<int32_t>(*op.desc().attr("groups"));
    auto row_bytes = [&](int64_t channels, int64_t columns) {
      return channels * window[2] * (columns + window[3] - 1) * lanes_ * int64_t{sizeof(float)};
    };
    return filters >= kLeastFilters && shape(out)[3] > 1 && row_bytes(window[1], shape(x)[3]) <= kRowBytes &&
           row_bytes(filters, shape(out)[3]) <= kRowBytes;
  }

  // Whether the operator works on images in lanes as it does on images: element by element, or channel by channel.
  bool continues(const RunOp& op) const {
    const std::string& type = op.desc().type;
    const bool normalizes = type == "batch_norm" || type == "batch_norm_grad";
    if ((!normalizes && !works_by_element(type)) || !op.copies_after.empty()) return false;
    if (normalizes && std::get<std::string>(*op.desc().attr("data_layout")) != "NCHW") return false;
    const Shape* images = nullptr;
    bool fits = true, begun = false;
    op.inputs.each([&](int v) {
      fits &= variable(v).info.kind == VarKind::Tensor;
      if (!fits || shape(v).rank() != 4) return;
      fits &= is_images(v) && (!images || shape(v) == *images);
      images = &shape(v), begun |= in_lanes_[static_cast<size_t>(v)];
    });
    if (!fits || !begun) return false;
    const AttrValue* axis = op.desc().attr("axis");
    const bool by_channel = normalizes || (axis && std::get<int32_t>(*axis) == 1);
    auto fits_channels = [&](int v) { return by_channel && shape(v) == Shape{(*images)[1]}; };
    op.inputs.each([&](int v) { fits &= shape(v).rank() == 4 || fits_channels(v); });
    op.outputs.each([&](int v) {
      const bool is_empty = variable(v).info.shape.known() && shape(v).numel() == 0;  // ReserveSpace
      fits &= shape(v) == *images ? may_be_in_lanes(v) : is_empty || fits_channels(v);
    });
    return fits;
  }

  // The copy of a variable in the other order, made before `op` reads it first.
  int copied(int v, const RunOp& op) {
    int& copy = copy_[static_cast<size_t>(v)];
    if (copy >= 0) return copy;
    const bool from_lanes = in_lanes_[static_cast<size_t>(v)];
    RunVariable made{variable(v).name + (from_lanes ? ".images" : ".in_lanes"), variable(v).info, Origin::Temporary};
    if (!from_lanes) made.info.shape = in_lanes(made.info.shape);
    copy = static_cast<int>(segment_.variables.size() + added_.size());
    ops_.push_back(replacement_of(op, operators_,
                                  make_op(from_lanes ? "images_from_lanes" : "images_to_lanes",
                                          {{"X", {variable(v).name}}}, {{"Out", {made.name}}}, {{"lanes", lanes_}}),
                                  {{v}}, {{copy}}));
    added_.push_back(std::move(made));
    return copy;
  }

  // Images that the operator reads become those in lanes, and other inputs, such as filters that a convolution has computed,
  // those that are not; images that it writes are in lanes.
  template <class F>
  void put_in_lanes(RunOp op, F holds_images) {
    op.inputs.each([&](int& v) {
      if (holds_images(v) != in_lanes_[static_cast<size_t>(v)]) v = copied(v, op);
    });
    op.outputs.each([&](int v) {
      if (holds_images(v)) in_lanes_[static_cast<size_t>(v)] = true;
    });
    ops_.push_back(std::move(op));
  }

  void add_convolution(const RunOp& op) {
    ++convolutions_;
    OpDesc desc = op.desc();
    desc.type = desc.type == "conv2d" ? "conv2d_in_lanes" : "conv2d_in_lanes_grad";
    desc.attrs = {};
    for (const char* name : {"strides", "paddings", "padding_algorithm", "dilations", "groups"})
      desc.set_attr(name, *op.desc().attr(name));
    desc.set_attr("lanes", lanes_);
    const int images[] = {op.input("Input"), op.input("Output@GRAD"), op.output("Output"), op.output("Input@GRAD")};
    put_in_lanes(replacement_of(op, operators_, std::move(desc), op.inputs, op.outputs),
                 [&](int v) { return std::count(std::begin(images), std::end(images), v) > 0; });
  }

  void add_in_images(RunOp op) {
    op.inputs.each([&](int& v) {
      if (in_lanes_[static_cast<size_t>(v)]) v = copied(v, op);
    });
    ops_.push_back(std::move(op));
  }

  const Segment& segment_;
  const OpTable& operators_;
  const int32_t lanes_;
  std::vector<VariableUse> uses_;
  std::vector<bool> in_lanes_;
  std::vector<int> copy_;  // the copy of a variable in the other order; -1: none
  std::vector<RunVariable> added_;
  std::vector<RunOp> ops_;
  size_t convolutions_ = 0;  // in lanes
};

// Whether the segment has gradients of convolutions, and all of it runs on the CPU.
bool may_gain(const Segment& segment, const Placement& placement) {
  const auto& ops = segment.ops;
  auto is_gradient = [](const RunOp& op) { return op.desc().type == "conv2d_grad"; };
  return std::any_of(ops.begin(), ops.end(), is_gradient) && runs_on_host(segment, placement);
}

}  // namespace

Segment keep_images_in_lanes(Segment segment, const Placement& placement) {
  if (!may_gain(segment, placement)) return segment;
  return Lanes(segment, placement.manager.operators()).run();
}

}  // namespace paddle_mini
