// all_finite: Out = whether every element of every X is finite
#include "core/op_table.h"

namespace paddle_mini {
namespace {

template <class T>
struct AllFiniteKernel : Kernel {
  std::vector<In<T>> x;
  Out<bool> out;

  explicit AllFiniteKernel(KernelInit& init) : x(in_list<T>(init, "X")), out(init, "Out") {}

  void run(KernelContext& context) override;
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(all_finite)

namespace paddle_mini {

void define_all_finite(OpTable& ops) {
  ops.add(OpSchema("all_finite")
              .doc("Out = whether every element of every X is finite; true if there are no elements.")
              .input_list("X", "any shapes, of one element type")
              .output("Out", "[1] bool")
              .infer([](InferContext& c) {
                require_tensors(c);
                for (size_t i = 1; i < c.input_count("X"); ++i) {
                  DType first = c.input("X").dtype, other = c.input("X", i).dtype;
                  require<ShapeError>(first == other, "X has ", name_of(first), " and ", name_of(other));
                }
                c.set_output("Out", DType::Bool, Shape{1});
              })
              .no_gradient("true or false")
              .on_gpu()
              .kernels<AllFiniteKernel, float, double, Float16, BFloat16>());
}

}  // namespace paddle_mini
