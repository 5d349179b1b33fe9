// hierarchical_sigmoid: the loss of a class as the path to it in a binary tree, with one sigmoid for each node on the
// path
#include <optional>

#include "core/op_table.h"
#include "math/vec.h"

namespace paddle_mini {
namespace {

int64_t bits_of(int64_t number) {
  int64_t bits = 0;
  for (; number > 0; number >>= 1) ++bits;
  return bits;
}

// The path from the root to the class of a row: each node's row of W, and which of its two children follows. Without
// PathTable the tree is the complete binary tree, in which the leaf of class c has number c + classes and each node
// half of its children's numbers. As in PaddlePaddle, that tree is walked from the leaf.
struct Paths {
  std::optional<IndexIn> table, code;
  IndexIn label;
  int64_t classes, nodes, rows, length;

  explicit Paths(const KernelInit& init)
      : label(init, "Label"), classes(init.attr<int32_t>("num_classes")), nodes(init.input("W")->tensor.shape[0]),
        rows(init.input("X")->tensor.shape[0]), length(bits_of(classes - 1)) {
    if (!init.input("PathTable")) return;
    table.emplace(init, "PathTable");
    code.emplace(init, "PathCode");
    length = table->shape()[1];
  }

  // Checks the inputs before anything is written.
  void check() const {
    for (int64_t i = 0; i < rows && !table; ++i) {
      require<OpError>(label[i] >= 0 && label[i] < classes, "label ", label[i], " in row ", i,
                       " is out of range: there are ", classes, " classes");
    }
    for (int64_t i = 0; table && i < table->numel(); ++i) {
      require<OpError>((*table)[i] < nodes, "PathTable holds ", (*table)[i], ", W has ", nodes, " rows");
    }
  }

  // Calls f(index on the path, row of W, whether the bit is set) for each node.
  template <class F>
  void each_node(int64_t row, F f) const {
    int64_t leaf = table ? 0 : label[row] + classes, end = table ? length : bits_of(leaf) - 1;
    for (int64_t j = 0; j < end; ++j) {
      int64_t node = table ? (*table)[row * length + j] : (leaf >> (j + 1)) - 1;
      if (node < 0) return;
      f(j, node, table ? (*code)[row * length + j] != 0 : (leaf >> j & 1) != 0);
    }
  }
};

template <class T>
T dot(const T* a, const T* b, int64_t n) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

template <class T>
struct HierarchicalSigmoidKernel : Kernel {
  In<T> x, w, bias;
  Out<T> out, pre_out, w_out;
  Paths paths;
  int64_t width;

  explicit HierarchicalSigmoidKernel(KernelInit& init)
      : x(init, "X"), w(init, "W"), bias(init, "Bias", optional_port), out(init, "Out"), pre_out(init, "PreOut"),
        w_out(init, "W_Out", optional_port), paths(init), width(x.shape()[1]) {}

  // As in PaddlePaddle, positions after the end of a path count as nodes with input 0, whose loss is log 2.
  void run(KernelContext&) override {
    paths.check();
    const T limit(40);
    for (int64_t i = 0; i < paths.rows; ++i) {
      T* row = pre_out.data() + i * paths.length;
      std::fill_n(row, paths.length, T(0));
      T taken = 0, total = 0;
      paths.each_node(i, [&](int64_t j, int64_t node, bool bit) {
        T input = dot(x.data() + i * width, w.data() + node * width, width) + (bias ? bias[node] : T(0));
        row[j] = minimum(maximum(input, -limit), limit);
        if (bit) taken += row[j];
      });
      for (int64_t j = 0; j < paths.length; ++j) {
        row[j] = std::log(T(1) + std::exp(row[j]));
        total += row[j];
      }
      out[i] = total - taken;
    }
    if (w_out && w_out.data() != w.data()) std::copy_n(w.data(), w.numel(), w_out.data());
  }
};

template <class T>
struct HierarchicalSigmoidGradKernel : Kernel {
  In<T> x, w, pre_out, out_gradient;
  Out<T> x_gradient, w_gradient, bias_gradient;
  Paths paths;
  int64_t width;

  explicit HierarchicalSigmoidGradKernel(KernelInit& init)
      : x(init, "X"), w(init, "W"), pre_out(init, "PreOut"), out_gradient(init, "Out@GRAD"),
        x_gradient(init, "X@GRAD", optional_port), w_gradient(init, "W@GRAD", optional_port),
        bias_gradient(init, "Bias@GRAD", optional_port), paths(init), width(x.shape()[1]) {}

  // PreOut is log(1 + exp(input)), so the sigmoid of the input is 1 - exp(-PreOut).
  void run(KernelContext&) override {
    paths.check();
    for (const Out<T>* gradient : {&x_gradient, &w_gradient, &bias_gradient}) {
      if (*gradient) std::fill_n(gradient->data(), gradient->numel(), T(0));
    }
    for (int64_t i = 0; i < paths.rows; ++i) {
      paths.each_node(i, [&](int64_t j, int64_t node, bool bit) {
        T sigmoid = T(1) - std::exp(-pre_out[i * paths.length + j]);
        T gradient = (sigmoid - T(bit)) * out_gradient[i];
        if (bias_gradient) bias_gradient[node] += gradient;
        for (int64_t k = 0; k < width; ++k) {
          if (x_gradient) x_gradient[i * width + k] += gradient * w[node * width + k];
          if (w_gradient) w_gradient[node * width + k] += gradient * x[i * width + k];
        }
      });
    }
  }
};

void require_paths(const InferContext& c, int64_t rows) {
  require<ProgramError>(c.has_input("PathTable") == c.has_input("PathCode"),
                        "PathTable and PathCode must be given together");
  if (!c.has_input("PathTable")) return;
  for (const char* port : {"PathTable", "PathCode"}) {
    require_index(c, port);
    require_rank(c, port, 2);
    require<ShapeError>(dims_agree(c.shape(port)[0], rows), port, " has shape ", c.shape(port).str(), ", X has ", rows,
                        " rows");
  }
  require_same_shape(c, "PathTable", "PathCode");
}

// Returns the shape of PreOut; Out has the shape of its first column.
Shape check_inputs(const InferContext& c) {
  require_tensors(c);
  for (const char* port : {"X", "W"}) require_rank(c, port, 2);
  const Shape &x = c.shape("X"), &w = c.shape("W");
  require_same_dtype(c, "X", "W");
  require<ShapeError>(dims_agree(x[1], w[1]), "X has shape ", x.str(), ", W ", w.str(),
                      ": their last dimensions must be equal");
  require_index(c, "Label");
  const Shape& label = c.shape("Label");
  int64_t labels = label.numel(0, label.rank());
  require<ShapeError>(dims_agree(labels, x[0]), "Label has shape ", label.str(), ", X has ", x[0], " rows");
  require_paths(c, x[0]);
  int64_t classes = c.attr<int32_t>("num_classes");
  bool custom = c.has_input("PathTable");
  require<ShapeError>(custom || w[0] < 0 || w[0] >= classes - 1, "W has shape ", w.str(), ", a tree of ", classes,
                      " classes has ", classes - 1, " nodes");
  if (c.has_input("Bias")) {
    require_same_dtype(c, "X", "Bias");
    const Shape& bias = c.shape("Bias");
    require<ShapeError>(dims_agree(bias.numel(0, bias.rank()), w[0]), "Bias has shape ", bias.str(), ", W has ", w[0],
                        " rows");
  }
  return {x[0], custom ? c.shape("PathTable")[1] : bits_of(classes - 1)};
}

}  // namespace

void define_hierarchical_sigmoid(OpTable& ops) {
  auto dense = [](const std::string& name, const AttrValue& value) {
    require<ProgramError>(!std::get<bool>(value), "attribute '", name,
                          "' is true, but the gradient of W is always dense");
  };
  ops.add(OpSchema("hierarchical_sigmoid")
              .doc("With z = W[node] X + Bias[node], clipped to [-40, 40], Out is the sum of log(1 + exp(z)) - bit z "
                   "over the nodes on the path to the row's class (Morin & Bengio 2005). Positions after the end of a "
                   "shorter path add log 2.")
              .input("X", "[rows, width]")
              .input("W", "[nodes, width]: at least num_classes - 1 nodes, or all that PathTable names")
              .input("Label", "int64, [rows, 1]: classes; not read if there are paths")
              .optional_input("PathTable",
                              "int64, [rows, length]: rows of W on the path to the class; a negative number ends it")
              .optional_input("PathCode", "int64, shape of PathTable: the next child, 0 or 1")
              .optional_input("Bias", "[nodes, 1]")
              .attr("num_classes", 2, "leaves of the tree", at_least(2))
              .attr("is_sparse", false, "must be false: the gradient of W is dense", dense)
              .output("Out", "[rows, 1]")
              .output("PreOut", "[rows, nodes on the longest path]: log(1 + exp(z))")
              .optional_output("W_Out", "W")
              .updates("W", "W_Out")
              .infer([](InferContext& c) {
                Shape pre_out = check_inputs(c);
                c.set_output("PreOut", c.input("X").dtype, pre_out);
                c.set_output("Out", c.input("X").dtype, Shape{pre_out[0], 1});
                c.set_output("W_Out", c.input("W"));
              })
              .checks_data()
              .gradient("hierarchical_sigmoid_grad",
                        {"X", "W", "Label", "PathTable", "PathCode", "Bias", "PreOut", "Out@GRAD"},
                        {"X@GRAD", "W@GRAD", "Bias@GRAD"})
              .cpu_only("processes each label's path through a tree of shared rows of weights")
              .kernels<HierarchicalSigmoidKernel, float, double>());
  ops.add(ops.gradient_of("hierarchical_sigmoid")
              .doc("z@GRAD = (sigmoid(z) - bit) Out@GRAD, from which those of X, W and Bias follow. The gradient "
                   "ignores the clipping of z.")
              .checks_data()
              .kernels<HierarchicalSigmoidGradKernel, float, double>());
}

}  // namespace paddle_mini
