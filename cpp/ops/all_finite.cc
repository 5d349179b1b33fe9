// all_finite: Out = whether every element of every X is finite
#include "core/op_table.h"
#ifdef PM_GPU
#include "math/copy.h"
#include "math/gpu/not_finite.h"
#include "math/together.h"
#else
#include "math/finite.h"
#endif

namespace paddle_mini {
namespace {

template <class T>
struct AllFiniteKernel : Kernel {
  std::vector<In<T>> x;
  Out<bool> out;

  explicit AllFiniteKernel(KernelInit& init) : x(in_list<T>(init, "X")), out(init, "Out") {}

#ifdef PM_GPU
  void run(Device& device) override {
    fill_n(device, out.data(), 1, true);
    together(device, [&] {
      for (const In<T>& one : x) flag_not_finite(device, one.numel(), one.data(), out.data(), false);
    });
  }
#else
  void run(Device&) override {
    out[0] = std::all_of(x.begin(), x.end(), [](const In<T>& one) { return all_finite(one.numel(), one.data()); });
  }
#endif
};

}  // namespace

void define_all_finite(OpTable& ops) {
  ops.add(OpSpec("all_finite")
              .doc("Out = whether every element of every X is finite; true for no elements.")
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
