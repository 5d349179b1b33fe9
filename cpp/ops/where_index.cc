// where_index: Out = the positions of the nonzero elements of Condition
#include "core/op_table.h"

namespace paddle_mini {
namespace {

template <class T>
int64_t count_nonzero(const Tensor& tensor) {
  const T* data = tensor.as<T>();
  int64_t count = 0;
  for (int64_t i = 0, n = tensor.shape.numel(); i < n; ++i) count += data[i] != T(0);
  return count;
}

template <class T>
struct WhereIndexKernel : Kernel {
  In<T> condition;
  Out<int64_t> out;

  explicit WhereIndexKernel(KernelInit& init) : condition(init, "Condition"), out(init, "Out") {}

  void run(KernelContext&) override {
    const Shape& shape = condition.shape();
    int64_t* row = out.data();
    for (int64_t i = 0, n = condition.numel(); i < n; ++i) {
      if (condition[i] == T(0)) continue;
      int64_t rest = i;
      for (int axis = shape.rank() - 1; axis >= 0; rest /= shape[axis--]) row[axis] = rest % shape[axis];
      row += shape.rank();
    }
  }
};

void infer_where_index(InferContext& c) {
  Shape shape{-1, c.shape("Condition").rank()};
  if (const Variable* condition = c.value("Condition")) {
    const Tensor& tensor = condition->tensor;
    switch (tensor.dtype) {
      case DType::Bool: shape[0] = count_nonzero<bool>(tensor); break;
      case DType::Int16: shape[0] = count_nonzero<int16_t>(tensor); break;
      case DType::Int32: shape[0] = count_nonzero<int32_t>(tensor); break;
      case DType::Int64: shape[0] = count_nonzero<int64_t>(tensor); break;
      case DType::Float32: shape[0] = count_nonzero<float>(tensor); break;
      case DType::Float64: shape[0] = count_nonzero<double>(tensor); break;
      default: fail<ShapeError>("Condition is ", name_of(tensor.dtype), ", for which there is no kernel");
    }
  }
  c.set_output("Out", DType::Int64, shape);
}

}  // namespace

void define_where_index(OpTable& ops) {
  ops.add(OpSchema("where_index")
              .doc("Out = the coordinates of the nonzero elements of Condition, one row for each, in row-major order. "
                   "The number of rows depends on data.")
              .input("Condition", "any shape")
              .output("Out", "int64 [n, rank of Condition]")
              .infer(infer_where_index)
              .custom_lod()
              .no_gradient("its output is positions, which are integers")
              .cpu_only("the size of its result depends on data")
              .kernels<WhereIndexKernel, bool, int16_t, int32_t, int64_t, float, double>());
}

}  // namespace paddle_mini
