// unpool: Out = zeros with the elements of X at the positions that max_pool2d_with_index found
#include "core/op_table.h"
#include "math/copy.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

// Positions in a plane of Out, one for each element of X; checked before they index it.
struct UnpooledPlanes {
  IndexIn indices;
  int64_t planes, in, out;

  UnpooledPlanes(const KernelInit& init, const Shape& x, const Shape& result)
      : indices(init, "Indices"), planes(x.numel(0, 2)), in(x.numel(2, x.rank())), out(result.numel(2, x.rank())) {}

  void check() const {
    for (int64_t i = 0; i < indices.numel(); ++i) {
      require<OpError>(indices[i] >= 0 && indices[i] < out, "Indices has ", indices[i], " at element ", i,
                       ", a plane of Out has ", out, " elements");
    }
  }
  // Calls f(element of X, element of Out); those of a plane are in order.
  template <class F>
  void each(KernelContext& context, F f) const {
    each_item(context, {planes, static_cast<double>(in + out)}, [&](int64_t plane) {
      for (int64_t i = plane * in; i < (plane + 1) * in; ++i) f(i, plane * out + indices[i]);
    });
  }
};

template <class T>
struct UnpoolKernel : Kernel {
  In<T> x;
  Out<T> out;
  UnpooledPlanes planes;

  explicit UnpoolKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), planes(init, x.shape(), out.shape()) {}
  void run(KernelContext& context) override {
    planes.check();
    fill_n(context, out.data(), out.numel(), T(0));
    planes.each(context, [this](int64_t from, int64_t to) { out[to] = x[from]; });
  }
};

template <class T>
struct UnpoolGradKernel : Kernel {
  In<T> gradient;
  Out<T> x_gradient;
  UnpooledPlanes planes;

  explicit UnpoolGradKernel(KernelInit& init)
      : gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), planes(init, x_gradient.shape(), gradient.shape()) {}
  void run(KernelContext& context) override {
    planes.check();
    planes.each(context, [this](int64_t to, int64_t from) { x_gradient[to] = gradient[from]; });
  }
};

template <int rank>
void infer_unpool(InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", rank);
  require_index(c, "Indices");
  require_same_shape(c, "X", "Indices");
  const auto& size = c.attr<std::vector<int32_t>>("output_size");
  require<ProgramError>(size.size() == rank - 2, "attribute 'output_size' has ", size.size(), " numbers, it must have ",
                        rank - 2);
  const Shape& x = c.shape("X");
  Shape out{x[0], x[1]};
  for (int32_t s : size) {
    require<ProgramError>(s >= 1, "attribute 'output_size' holds ", s, ", it must be at least 1");
    out.push_back(s);
  }
  c.set_output("Out", c.input("X").dtype, out);
}

template <int rank>
void define_unpooling(OpTable& ops, const std::string& type) {
  OpSchema schema(type);
  schema.required_attr("ksize", AttrType::Ints, "the window of the pooling; it has no effect")
      .attr("strides", std::vector<int32_t>(rank - 2, 1), "its strides; they have no effect")
      .attr("paddings", std::vector<int32_t>(rank - 2, 0), "its paddings; they have no effect")
      .attr("output_size", std::vector<int32_t>(rank - 2, 0), "the size of Out")
      .attr("data_format", rank == 4 ? AttrValue(std::string("NCHW")) : AttrValue(std::string("NCDHW")),
            "the channels are axis 1", one_of({rank == 4 ? "NCHW" : "NCDHW"}));
  if (rank == 4) schema.required_attr("unpooling_type", AttrType::String, "max", one_of({"max"}));
  ops.add(schema
              .input("X", rank == 4 ? "[images, channels, rows, columns]" : "[images, channels, planes, rows, columns]")
              .doc("Out = zeros, but X at the positions in Indices. Of several elements at one position, the last one "
                   "stays.")
              .input("Indices", "int32 or int64, shape of X: row-major positions in the plane of a channel of Out")
              .output("Out", "[images, channels, output_size]")
              .infer(infer_unpool<rank>)
              .gradient(type + "_grad", {"X", "Indices", "Out@GRAD"}, {"X@GRAD"})
              .checks_data()
              .cpu_only("of several elements at one position the last one stays, so that their order counts")
              .template kernels<UnpoolKernel, float, double>());
  ops.add(ops.gradient_of(type)
              .optional_input("Out", "which PaddlePaddle passes; not read")
              .doc("X@GRAD = Out@GRAD at the positions in Indices, also for an element that another one replaced.")
              .checks_data()
              .template kernels<UnpoolGradKernel, float, double>());
}

}  // namespace

// The same operator for images and for volumes.
void define_unpool(OpTable& ops) {
  define_unpooling<4>(ops, "unpool");
  define_unpooling<5>(ops, "unpool3d");
}

}  // namespace paddle_mini
