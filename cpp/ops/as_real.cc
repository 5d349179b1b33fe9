// as_real: Out = the parts of complex numbers as pairs; as_complex: the inverse
#include "ops/family/of_complex.h"
#include "ops/family/reshape.h"

namespace paddle_mini {
namespace {

void infer_as_real(InferContext& c) {
  require_tensors(c);
  require_complex(c, "X");
  Shape out = c.shape("X");
  require<ShapeError>(out.rank() < Shape::kMaxRank, "X has ", out.rank(), " dimensions, it must have at most ",
                      Shape::kMaxRank - 1);
  out.push_back(2);
  c.set_output("Out", real_of(c.input("X").dtype), out);
}

void infer_as_complex(InferContext& c) {
  require_tensors(c);
  require_real(c, "X");
  const Shape& x = c.shape("X");
  require<ShapeError>(x.rank() > 0 && dims_agree(x[x.rank() - 1], 2), "X has shape ", x.str(),
                      ", its last dimension must be 2: the real and the imaginary part");
  Shape out;
  for (int i = 0; i + 1 < x.rank(); ++i) out.push_back(x[i]);
  c.set_output("Out", complex_of(c.input("X").dtype), out);
}

// The same bytes; the gradient is the inverse.
OpSchema seen_as(const char* type, const char* inverse) {
  return OpSchema(type)
      .gradient([inverse = std::string(inverse)](const OpDesc& forward) {
        return std::vector<OpDesc>{make_op(inverse, {{"X", gradient_names(forward.output("Out"))}},
                                           {{"Out", gradient_names(forward.input("X"))}})};
      })
      .view("X", "Out")
      .on_gpu()
      .kernel_for_any<ReshapeKernel>();
}

}  // namespace

void define_as_real(OpTable& ops) {
  ops.add(seen_as("as_real", "as_complex")
              .doc("Out = complex numbers as pairs of real numbers: Out[..., 0] are the real parts.")
              .input("X", "complex64 or complex128, any shape")
              .output("Out", "float32 or float64: X's shape with a last axis of 2")
              .infer(infer_as_real));
  ops.add(seen_as("as_complex", "as_real")
              .doc("Out = pairs of real numbers as complex numbers.")
              .input("X", "float32 or float64, [..., 2]")
              .output("Out", "complex64 or complex128: X's shape without the last axis")
              .infer(infer_as_complex));
}

}  // namespace paddle_mini
