// attention: Out = weight_factor softmax(scale Q K' + the masks) V, for matrices or batches of matrices
#include "math/cpu/attention.h"
#include "math/broadcast.h"

namespace paddle_mini {
namespace {

// [batch..., queries, keys] and the other sizes, from shapes that fit together.
struct AttentionShape {
  Shape scores;
  int64_t width, value_width;
};

// The same for operands [batch, words, heads, width], of whose third axis `heads` are used.
template <class Context>
AttentionShape heads_shape(const Context& c, const Shape& q, const Shape& k, const Shape& v) {
  const int32_t heads = c.template attr<int32_t>("heads");
  require<ProgramError>(!c.template attr<bool>("keys_by_column"), "heads is ", heads,
                        ", but keys_by_column is for K [batch..., width, keys]");
  bool fits = q.rank() == 4 && dims_agree(q[0], k[0]) && dims_agree(q[0], v[0]) && dims_agree(k[0], v[0]) &&
              dims_agree(k[1], v[1]) && dims_agree(q[3], k[3]);
  auto has_heads = [&](const Shape& shape, const char* first) {
    return shape[2] < 0 || int64_t{c.template attr<int32_t>(first)} + heads <= shape[2];
  };
  fits = fits && has_heads(q, "first_query") && has_heads(k, "first_key") && has_heads(v, "first_value");
  require<ShapeError>(fits, "Q ", q.str(), ", K ", k.str(), " and V ", v.str(),
                      ": with heads they must be [batch, queries, any, width], [batch, keys, any, width] and [batch, "
                      "keys, any, any], and have ",
                      heads, " heads from first_query, first_key and first_value on");
  return {Shape{std::max({q[0], k[0], v[0]}), heads, q[1], std::max(k[1], v[1])}, std::max(q[3], k[3]), v[3]};
}

template <class Context>
AttentionShape attention_shape(const Context& c, const Shape& q, const Shape& k, const Shape& v) {
  const int rank = q.rank(), heads = c.template attr<int32_t>("heads");
  require<ShapeError>(rank >= 2 && k.rank() == rank && v.rank() == rank, "Q ", q.str(), ", K ", k.str(), " and V ",
                      v.str(), ": they must have the same rank, at least 2");
  const bool by_column = c.template attr<bool>("keys_by_column");
  if (heads > 0) return heads_shape(c, q, k, v);
  const int64_t k_keys = k[by_column ? rank - 1 : rank - 2], k_width = k[by_column ? rank - 2 : rank - 1];
  bool fits = dims_agree(q[rank - 1], k_width) && dims_agree(v[rank - 2], k_keys);
  AttentionShape shape{{}, std::max(q[rank - 1], k_width), v[rank - 1]};
  for (int i = 0; i < rank - 2; ++i) {
    fits = fits && dims_agree(q[i], k[i]) && dims_agree(q[i], v[i]) && dims_agree(k[i], v[i]);
    shape.scores.push_back(std::max({q[i], k[i], v[i]}));
  }
  require<ShapeError>(fits, "Q ", q.str(), ", K ", k.str(), " and V ", v.str(), ": K must be [batch..., ",
                      by_column ? "width, keys" : "keys, width", "] and V [batch..., keys, any], with the batch of Q");
  shape.scores.push_back(q[rank - 2]);
  shape.scores.push_back(std::max(k_keys, v[rank - 2]));
  return shape;
}

// Where a mask, aligned with the last axes of the scores, has the element for each score.
AttentionMask mask_of(const Shape& mask, const Shape& scores) {
  const int rank = scores.rank(), less = rank - mask.rank();
  std::vector<int64_t> steps(static_cast<size_t>(rank), 0);
  int64_t step = 1;
  for (int i = rank - 1; i >= less; --i) {
    steps[static_cast<size_t>(i)] = mask[i - less] == 1 ? 0 : step;
    step *= mask[i - less];
  }
  AttentionMask result{{}, steps[static_cast<size_t>(rank - 2)], steps[static_cast<size_t>(rank - 1)]};
  const int64_t matrices = scores.numel(0, rank - 2);
  for (int64_t i = 0; i < matrices; ++i) {
    int64_t offset = 0, left = i;
    for (int axis = rank - 3; axis >= 0; --axis) {
      offset += left % scores[axis] * steps[static_cast<size_t>(axis)];
      left /= scores[axis];
    }
    result.offsets.push_back(offset);
  }
  return result;
}

template <class T>
struct AttentionKernel : Kernel {
  In<T> q, k, v;
  std::vector<In<T>> masks;
  Out<T> out;
  Attention<T> attention;
  std::vector<const T*> mask_values;

  explicit AttentionKernel(KernelInit& init)
      : q(init, "Q"), k(init, "K"), v(init, "V"), masks(masks_of(init)), out(init, "Out"),
        attention(made(init, attention_shape(init, q.shape(), k.shape(), v.shape()), masks)),
        mask_values(masks.size()) {}

  void run(KernelContext& context) override {
    for (size_t i = 0; i < masks.size(); ++i) mask_values[i] = masks[i].data();
    attention.run(context, q.data(), k.data(), v.data(), mask_values, out.data());
  }

  static std::vector<In<T>> masks_of(KernelInit& init) {
    std::vector<In<T>> masks;
    for (size_t i = 0; i < init.input_count("Mask"); ++i) masks.emplace_back(init, "Mask", i);
    return masks;
  }

  static Attention<T> made(KernelInit& init, const AttentionShape& shape, const std::vector<In<T>>& masks) {
    const Shape& scores = shape.scores;
    const int rank = scores.rank();
    std::vector<AttentionMask> positions;
    for (const In<T>& mask : masks) positions.push_back(mask_of(mask.shape(), scores));
    AttentionSizes sizes;
    sizes.matrices = scores.numel(0, rank - 2), sizes.queries = scores[rank - 2], sizes.keys = scores[rank - 1];
    sizes.width = shape.width, sizes.value_width = shape.value_width;
    sizes.keys_by_column = init.attr<bool>("keys_by_column");
    sizes.scale = init.attr<float>("scale"), sizes.weight_factor = init.attr<float>("weight_factor");
    place_operands(init, sizes);
    return {init, sizes, std::move(positions)};
  }

  static void place_operands(KernelInit& init, AttentionSizes& s) {
    const int64_t heads = init.attr<int32_t>("heads");
    if (heads == 0) {
      auto rows = [](int64_t count, int64_t columns) { return AttentionOperand{0, count * columns, 0, columns}; };
      s.q = rows(s.queries, s.width);
      s.k = s.keys_by_column ? rows(s.width, s.keys) : rows(s.keys, s.width);
      s.v = rows(s.keys, s.value_width);
      s.out = rows(s.queries, s.value_width);
      return;
    }
    s.heads = heads;
    auto words = [&](int64_t first, int64_t count, int64_t all, int64_t columns) {
      return AttentionOperand{first * columns, count * all * columns, columns, all * columns};
    };
    auto of = [&](const char* port, const char* first, int64_t count, int64_t columns) {
      return words(init.attr<int32_t>(first), count, init.input(port)->tensor.shape[2], columns);
    };
    s.q = of("Q", "first_query", s.queries, s.width);
    s.k = of("K", "first_key", s.keys, s.width);
    s.v = of("V", "first_value", s.keys, s.value_width);
    s.out = words(0, s.queries, heads, s.value_width);
  }
};

void infer_attention(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "Q", "K");
  require_same_dtype(c, "Q", "V");
  AttentionShape shape = attention_shape(c, c.shape("Q"), c.shape("K"), c.shape("V"));
  for (size_t i = 0; i < c.input_count("Mask"); ++i) {
    const VarInfo& mask = c.input("Mask", i);
    require<ShapeError>(mask.dtype == c.input("Q").dtype, "Mask is ", name_of(mask.dtype), ", Q is ",
                        name_of(c.input("Q").dtype));
    bool fits = mask.shape.rank() <= shape.scores.rank();
    const int less = shape.scores.rank() - mask.shape.rank();
    for (int axis = 0; fits && axis < mask.shape.rank(); ++axis)
      fits = mask.shape[axis] == 1 || dims_agree(mask.shape[axis], shape.scores[axis + less]);
    require<ShapeError>(fits, "Mask has shape ", mask.shape.str(), ", the scores have ", shape.scores.str(),
                        ", to which it must be broadcast");
  }
  Shape out = shape.scores;
  if (c.attr<int32_t>("heads") > 0) std::swap(out[1], out[2]);
  out[out.rank() - 1] = shape.value_width;
  c.set_output("Out", c.input("Q").dtype, out);
}

}  // namespace

void define_attention(OpTable& ops) {
  ops.add(OpSchema("attention")
              .doc("Out = weight_factor softmax(scale Q K' + the masks) V (Vaswani et al. 2017), without the matrix of "
                   "all scores in memory. The executor inserts it (docs/performance.md).")
              .input("Q", "[batch..., queries, width]")
              .input("K", "[batch..., keys, width], or [batch..., width, keys] if keys_by_column")
              .input("V", "[batch..., keys, any]")
              .optional_input_list("Mask", "added to the scores [batch..., queries, keys], to which they are broadcast")
              .output("Out", "[batch..., queries, columns of V]")
              .attr("keys_by_column", false, "whether the columns of K are the keys")
              .attr("heads", 0,
                    "if positive, Q and K are [batch, words, any, width], V [batch, words, any, any] and Out [batch, "
                    "queries, heads, columns of V]; so many heads of their third axes are the matrices",
                    at_least(0))
              .attr("first_query", 0, "with heads: the first head of Q that is used", at_least(0))
              .attr("first_key", 0, "with heads: the first head of K", at_least(0))
              .attr("first_value", 0, "with heads: the first head of V", at_least(0))
              .attr("scale", 1.0f, "factor of the scores, before the masks")
              .attr("weight_factor", 1.0f, "factor of the weights that softmax gives")
              .infer(infer_attention)
              .no_gradient("it is for programs that do not change parameters")
              .cpu_only("the executor inserts it only on the CPU")
              .kernels<AttentionKernel, float, double>());
}

}  // namespace paddle_mini
