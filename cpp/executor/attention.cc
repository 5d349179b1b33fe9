// Finds attention around each softmax.
#include "executor/attention.h"

#include <optional>
#include <utility>

#include "executor/variable_uses.h"

namespace paddle_mini {
namespace {

constexpr int64_t kLeastQueries = 32;

template <class T>
const T& attr(const RunOp& op, const char* name) {
  return std::get<T>(*op.desc().attr(name));
}

// The two products, and what lies between them.
struct Found {
  std::vector<int> ops;  // operators that go; the last one is the second product
  int q = -1, k = -1, v = -1, out = -1;
  std::vector<int> masks;  // in the order in which they are added
  bool keys_by_column = false;
  float scale = 1, weight_factor = 1;
};

class AttentionFusion {
 public:
  AttentionFusion(Segment segment, const OpTable& operators)
      : segment_(std::move(segment)), operators_(operators), uses_(find_variable_uses(segment_)) {}

  Segment run() {
    std::vector<bool> removed(segment_.ops.size(), false);
    for (size_t i = 0; i < segment_.ops.size(); ++i) {
      if (segment_.ops[i].desc().type != "softmax") continue;
      std::optional<Found> found = around(static_cast<int>(i));
      if (!found) continue;
      for (int at : found->ops) removed[static_cast<size_t>(at)] = true;
      removed[static_cast<size_t>(found->ops.back())] = false;
      op(found->ops.back()) = fused(*found);
    }
    std::vector<RunOp> ops = std::exchange(segment_.ops, {});
    for (size_t i = 0; i < ops.size(); ++i)
      if (!removed[i]) segment_.ops.push_back(std::move(ops[i]));
    return std::move(segment_);
  }

 private:
  RunOp& op(int i) { return segment_.ops[static_cast<size_t>(i)]; }
  const VarInfo& info(int v) const { return segment_.variables[v].info; }
  const Shape& shape(int v) const { return info(v).shape; }

  std::optional<Found> around(int at) {
    const RunOp& softmax = op(at);
    const int x = softmax.input("X"), out = softmax.output("Out");
    if (x < 0 || out < 0 || !softmax.copies_after.empty()) return std::nullopt;
    const DType dtype = info(x).dtype;
    const int rank = shape(x).rank(), axis = attr<int32_t>(softmax, "axis");
    if (rank < 2 || (axis != -1 && axis != rank - 1)) return std::nullopt;
    if ((dtype != DType::Float32 && dtype != DType::Float64) || shape(x)[rank - 2] < kLeastQueries) return std::nullopt;
    Found found;
    if (!find_scores(x, found)) return std::nullopt;
    found.ops.push_back(at);
    if (!find_values(out, found)) return std::nullopt;
    for (int v : {found.q, found.k, found.v})
      if (!is_stable(segment_, uses_, v) || shape(v).rank() != rank) return std::nullopt;
    for (int i = 0; i < rank - 2; ++i)
      if (shape(found.q)[i] != shape(found.k)[i] || shape(found.q)[i] != shape(found.v)[i]) return std::nullopt;
    return found;
  }

  // From the argument of softmax back to the first product.
  bool find_scores(int v, Found& found) {
    const Shape scores = shape(v);
    while (is_link(segment_, uses_, v) && shape(v) == scores) {
      const int at = uses_[v].writer;
      const RunOp& writer = op(at);
      if (!writer.copies_after.empty()) return false;
      found.ops.push_back(at);
      if (is_product(writer)) return begins_with(writer, found);
      if (writer.desc().type == "elementwise_add" && found.scale == 1) {
        if (!adds_mask(writer, found)) return false;
      } else if (!multiplies(writer, found.scale)) {
        return false;
      }
      v = writer.input("X");
      if (v < 0) return false;
    }
    return false;
  }

  // From the result of softmax on to the second product.
  bool find_values(int v, Found& found) {
    while (is_link(segment_, uses_, v)) {
      const int at = uses_[v].reader;
      const RunOp& reader = op(at);
      if (!reader.copies_after.empty()) return false;
      found.ops.push_back(at);
      if (is_product(reader)) return ends_with(reader, v, found);
      if (!multiplies(reader, found.weight_factor)) return false;
      v = reader.output("Out");
      if (v < 0) return false;
    }
    return false;
  }

  static bool is_product(const RunOp& product) {
    return product.desc().type == "matmul" || product.desc().type == "matmul_v2";
  }
  static bool transposes(const RunOp& product, bool x) {
    const bool is_first = product.desc().type == "matmul";
    return attr<bool>(product, x ? (is_first ? "transpose_X" : "trans_x") : (is_first ? "transpose_Y" : "trans_y"));
  }

  // Multiplies `factor` by that of a matmul or scale. One of both must be 1, because a FLOAT can't hold every product.
  static bool take_factor(float more, float& factor) {
    if (more != 1 && factor != 1) return false;
    factor = more == 1 ? factor : more;
    return true;
  }
  static bool multiplies(const RunOp& scale, float& factor) {
    return scale.desc().type == "scale" && scale.input("ScaleTensor") < 0 && attr<float>(scale, "bias") == 0 &&
           take_factor(attr<float>(scale, "scale"), factor);
  }
  static bool takes_alpha(const RunOp& product, float& factor) {
    return product.desc().type != "matmul" || take_factor(attr<float>(product, "alpha"), factor);
  }

  bool begins_with(const RunOp& product, Found& found) {
    found.q = product.input("X");
    found.k = product.input("Y");
    found.keys_by_column = !transposes(product, false);
    return found.q >= 0 && found.k >= 0 && !transposes(product, true) && takes_alpha(product, found.scale);
  }

  bool ends_with(const RunOp& product, int weights, Found& found) {
    found.v = product.input("Y");
    found.out = product.output("Out");
    return found.v >= 0 && found.out >= 0 && product.input("X") == weights && !transposes(product, true) &&
           !transposes(product, false) && takes_alpha(product, found.weight_factor);
  }

  bool adds_mask(const RunOp& add, Found& found) const {
    const int x = add.input("X"), mask = add.input("Y"), axis = attr<int32_t>(add, "axis");
    if (x < 0 || mask < 0 || !is_stable(segment_, uses_, mask) || shape(mask).rank() > shape(x).rank()) return false;
    if (axis != -1 && axis != shape(x).rank() - shape(mask).rank()) return false;
    found.masks.insert(found.masks.begin(), mask);
    return true;
  }

  // In place of the second product.
  RunOp fused(const Found& found) {
    std::vector<std::string> mask_names;
    for (int mask : found.masks) mask_names.push_back(segment_.variables[mask].name);
    auto name = [&](int v) { return std::vector<std::string>{segment_.variables[v].name}; };
    std::vector<Slot> inputs = {{"Q", name(found.q)}, {"K", name(found.k)}, {"V", name(found.v)}, {"Mask", mask_names}};
    OpDesc desc = make_op(
        "attention", std::move(inputs), {{"Out", name(found.out)}},
        {{"keys_by_column", found.keys_by_column}, {"scale", found.scale}, {"weight_factor", found.weight_factor}});
    return replacement_of(op(found.ops.back()), operators_, std::move(desc),
                          {{found.q}, {found.k}, {found.v}, found.masks}, {{found.out}});
  }

  Segment segment_;
  const OpTable& operators_;
  std::vector<VariableUse> uses_;
};

}  // namespace

Segment fuse_attention(Segment segment, const Placement& placement) {
  if (!may_replace_operators(segment, placement)) return segment;
  return AttentionFusion(std::move(segment), placement.manager.operators()).run();
}

}  // namespace paddle_mini
