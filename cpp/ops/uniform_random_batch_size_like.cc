// uniform_random_batch_size_like: Out is drawn uniformly from [min, max); one dimension of its shape is taken from Input
#include "ops/family/batch_size_like.h"
#include "ops/family/uniform.h"

namespace paddle_mini {

void define_uniform_random_batch_size_like(OpTable& ops) {
  ops.add(
      with_bounds(batch_size_like("uniform_random_batch_size_like"))
          .doc("Each element of Out is a sample of the uniform distribution on [min, max); one dimension of `shape` "
               "is replaced by one of Input's.")
          .infer([](InferContext& c) {
            require_tensors(c);
            Shape shape = filled_shape(c);
            check_uniform(c, shape);
            c.set_output("Out", c.dtype_attr("dtype"), shape);
          })
          .no_gradient("the values of Input are not read")
          .kernels<UniformRandomKernel, float, double>());
}

}  // namespace paddle_mini
