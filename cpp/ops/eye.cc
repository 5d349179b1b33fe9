// eye: Out = a matrix with 1 on the diagonal and 0 elsewhere
#include "core/op_table.h"
#include "math/copy.h"
#include "math/for_each_index.h"

#include <algorithm>

namespace paddle_mini {
namespace {

template <class T>
struct OneEach {
  T* to;
  int64_t step;
  PM_HD void operator()(int64_t i) const { to[i * step] = T(1); }
};

template <class T>
struct EyeKernel : Kernel {
  Out<T> out;

  explicit EyeKernel(KernelInit& init) : out(init, "Out") {}
  void run(KernelContext& context) override {
    int64_t rows = out.shape()[0], columns = out.shape()[1];
    fill_n(context, out.data(), rows * columns, T(0));
    for_each_index(context, std::min(rows, columns), OneEach<T>{out.data(), columns + 1});
  }
};

}  // namespace

void define_eye(OpTable& ops) {
  ops.add(OpSchema("eye")
              .doc("Out = a matrix with 1 on the diagonal and 0 elsewhere.")
              .output("Out", "[num_rows, num_columns]")
              .required_attr("num_rows", AttrType::Long, "rows", at_least(0))
              .attr("num_columns", int64_t{-1}, "columns; -1: as many as rows", at_least(-1))
              .attr("dtype", static_cast<int32_t>(DType::Float32), "element type of Out")
              .infer([](InferContext& c) {
                int64_t rows = c.attr<int64_t>("num_rows"), columns = c.attr<int64_t>("num_columns");
                Shape out{rows, columns < 0 ? rows : columns};
                out.numel();  // throws if it is too large
                c.set_output("Out", c.dtype_attr("dtype"), out);
              })
              .no_gradient("it has no inputs")
              .on_gpu()
              .kernels<EyeKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
