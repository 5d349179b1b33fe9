// multi_dot: Out = X[0] X[1] ... , in the order of products that takes the fewest multiplications
#include <algorithm>

#include "core/op_table.h"
#include "math/gemm.h"

namespace paddle_mini {
namespace {

// The sizes of a chain of matrices: matrix i is [sizes[i], sizes[i + 1]]. A first vector is a row, a last one a column.
std::vector<int64_t> chain_sizes(const std::vector<Shape>& shapes) {
  std::vector<int64_t> sizes;
  size_t count = shapes.size();
  require<ShapeError>(count >= 2, "X has ", count, " variables, it must have at least 2");
  for (size_t i = 0; i < count; ++i) {
    const Shape& shape = shapes[i];
    bool at_end = i == 0 || i + 1 == count;
    require<ShapeError>(shape.rank() == 2 || (at_end && shape.rank() == 1), "variable ", i, " of X has shape ",
                        shape.str(), at_end ? ", it must have 1 or 2 dimensions" : ", it must have 2 dimensions");
    int64_t rows = shape.rank() == 1 && i == 0 ? 1 : shape[0];
    int64_t columns = shape.rank() == 2 ? shape[1] : i == 0 ? shape[0] : 1;
    if (i == 0) sizes.push_back(rows);
    else {
      require<ShapeError>(dims_agree(sizes.back(), rows), "variable ", i - 1, " of X has shape ", shapes[i - 1].str(),
                          ", variable ", i, " has ", shape.str(), ": ", rows, " rows, not ", sizes.back());
      if (sizes.back() < 0) sizes.back() = rows;
    }
    sizes.push_back(columns);
  }
  return sizes;
}

template <class T>
std::vector<int64_t> chain_sizes(const std::vector<In<T>>& inputs) {
  std::vector<Shape> shapes;
  for (const In<T>& input : inputs) shapes.push_back(input.shape());
  return chain_sizes(shapes);
}

// Cormen et al., Introduction to Algorithms, "Matrix-chain multiplication": where to split the matrices [i, j].
std::vector<std::vector<size_t>> best_splits(const std::vector<int64_t>& sizes) {
  size_t count = sizes.size() - 1;
  std::vector<std::vector<double>> costs(count, std::vector<double>(count));
  std::vector<std::vector<size_t>> splits(count, std::vector<size_t>(count));
  auto size = [&](size_t i) { return static_cast<double>(sizes[i]); };
  for (size_t length = 1; length < count; ++length) {
    for (size_t i = 0; i + length < count; ++i) {
      size_t j = i + length;
      for (size_t k = i; k < j; ++k) {
        double cost = costs[i][k] + costs[k + 1][j] + size(i) * size(k + 1) * size(j + 1);
        if (k == i || cost < costs[i][j]) costs[i][j] = cost, splits[i][j] = k;
      }
    }
  }
  return splits;
}

// A product of two matrices, each an input or the scratch memory of a product before.
template <class T>
struct ChainProduct {
  const In<T>* input_a;
  const In<T>* input_b;
  size_t scratch_a, scratch_b, to;  // indices; `to` is that of the scratch memory, or none for Out
  Gemm<T> gemm;
};

template <class T>
struct MultiDotKernel : Kernel {
  static constexpr size_t kOut = static_cast<size_t>(-1);

  std::vector<In<T>> inputs;
  Out<T> out;
  std::vector<int64_t> sizes;
  std::vector<std::vector<size_t>> splits;
  std::vector<Scratch<T>> scratches;
  std::vector<ChainProduct<T>> products;

  explicit MultiDotKernel(KernelInit& init)
      : inputs(in_list<T>(init, "X")), out(init, "Out"), sizes(chain_sizes(inputs)), splits(best_splits(sizes)) {
    plan(init, 0, inputs.size() - 1);
  }

  // Appends the products of the matrices [i, j]; returns the index of their scratch memory, unless i == j.
  size_t plan(KernelInit& init, size_t i, size_t j) {
    if (i == j) return kOut;
    size_t k = splits[i][j], a = plan(init, i, k), b = plan(init, k + 1, j), to = kOut;
    if (j - i + 1 < inputs.size()) {
      to = scratches.size();
      scratches.emplace_back(init, sizes[i] * sizes[j + 1]);
    }
    GemmSizes<T> product{false, false, sizes[i], sizes[j + 1], sizes[k + 1]};
    products.push_back({i == k ? &inputs[i] : nullptr, j == k + 1 ? &inputs[j] : nullptr, a, b, to,
                        Gemm<T>(product, init.threads())});
    return to;
  }

  void run(KernelContext& context) override {
    for (const ChainProduct<T>& one : products) {
      one.gemm.run(context, one.input_a ? one.input_a->data() : scratches[one.scratch_a].data(),
                   one.input_b ? one.input_b->data() : scratches[one.scratch_b].data(),
                   one.to == kOut ? out.data() : scratches[one.to].data());
    }
  }
};

// X[i]@GRAD = (X[0] ... X[i - 1])^T Out@GRAD (X[i + 1] ...)^T
template <class T>
struct MultiDotGradKernel : Kernel {
  std::vector<In<T>> inputs;
  In<T> out_gradient;
  std::vector<std::unique_ptr<Out<T>>> gradients;  // null for those that are not wanted
  std::vector<int64_t> sizes;
  std::vector<Scratch<T>> before, after;  // products of the first i + 2 matrices, and of the last i + 2 ones
  std::vector<Gemm<T>> to_before, to_after, to_middle, to_gradient;
  Scratch<T> middle;  // (X[0] ... X[i - 1])^T Out@GRAD

  explicit MultiDotGradKernel(KernelInit& init)
      : inputs(in_list<T>(init, "X")), out_gradient(init, "Out@GRAD"), sizes(chain_sizes(inputs)),
        middle(init, *std::max_element(sizes.begin(), sizes.end()) * sizes.back()) {
    size_t count = inputs.size();
    int64_t first = sizes[0], last = sizes[count];
    int threads = init.threads();
    for (size_t i = 0; i + 2 < count; ++i) {
      before.emplace_back(init, first * sizes[i + 2]);
      to_before.emplace_back(GemmSizes<T>{false, false, first, sizes[i + 2], sizes[i + 1]}, threads);
      size_t at = count - 2 - i;
      after.emplace_back(init, sizes[at] * last);
      to_after.emplace_back(GemmSizes<T>{false, false, sizes[at], last, sizes[at + 1]}, threads);
    }
    for (size_t i = 0; i < count; ++i) {
      gradients.push_back(init.output("X@GRAD", i) ? std::make_unique<Out<T>>(init, "X@GRAD", i) : nullptr);
      to_middle.emplace_back(GemmSizes<T>{true, false, sizes[i], last, first}, threads);
      to_gradient.emplace_back(GemmSizes<T>{false, true, sizes[i], sizes[i + 1], last}, threads);
    }
  }

  void run(KernelContext& context) override {
    size_t count = inputs.size();
    for (size_t i = 0; i < before.size(); ++i) {
      to_before[i].run(context, i == 0 ? inputs[0].data() : before[i - 1].data(), inputs[i + 1].data(),
                       before[i].data());
      const T* rest = i == 0 ? inputs[count - 1].data() : after[i - 1].data();
      to_after[i].run(context, inputs[count - 2 - i].data(), rest, after[i].data());
    }
    for (size_t i = 0; i < count; ++i) {
      if (!gradients[i]) continue;
      bool is_first = i == 0, is_last = i + 1 == count;
      const T* left = out_gradient.data();
      if (!is_first) {
        T* to = is_last ? gradients[i]->data() : middle.data();
        to_middle[i].run(context, i == 1 ? inputs[0].data() : before[i - 2].data(), left, to);
        left = to;
      }
      if (is_last) continue;
      const T* right = i + 2 == count ? inputs[count - 1].data() : after[count - 3 - i].data();
      to_gradient[i].run(context, left, right, gradients[i]->data());
    }
  }
};

Shape multi_dot_shape(const InferContext& c) {
  require_tensors(c);
  std::vector<Shape> shapes;
  for (size_t i = 0; i < c.input_count("X"); ++i) {
    require<ShapeError>(c.input("X", i).dtype == c.input("X").dtype, "variable ", i, " of X is ",
                        name_of(c.input("X", i).dtype), ", the first is ", name_of(c.input("X").dtype));
    shapes.push_back(c.input("X", i).shape);
  }
  std::vector<int64_t> sizes = chain_sizes(shapes);
  Shape out;
  if (shapes.front().rank() == 2) out.push_back(sizes.front());
  if (shapes.back().rank() == 2) out.push_back(sizes.back());
  return out;
}

}  // namespace

void define_multi_dot(OpTable& ops) {
  ops.add(OpSchema("multi_dot")
              .doc("Out = the product of all matrices of X, in the order that takes the fewest multiplications.")
              .input_list("X", "at least 2 matrices; the first one and the last one may be vectors, a row and a column")
              .output("Out", "[rows of the first, columns of the last], without the axis of a vector")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, multi_dot_shape(c)); })
              .gradient("multi_dot_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<MultiDotKernel, float, double>());
  ops.add(ops.gradient_of("multi_dot")
              .doc("X[i]@GRAD = (X[0] ... X[i - 1])^T Out@GRAD (X[i + 1] ...)^T.")
              .infer([](InferContext& c) {
                Shape wanted = multi_dot_shape(c);
                require<ShapeError>(shapes_agree(c.shape("Out@GRAD"), wanted), "Out@GRAD has shape ",
                                    c.shape("Out@GRAD").str(), ", Out has ", wanted.str());
                gradients_like_inputs(c);
              })
              .kernels<MultiDotGradKernel, float, double>());
}

}  // namespace paddle_mini
