// meshgrid: Out = lists of coordinates, each broadcast over the grid that they span together
#include "math/axis_index_map.h"

#include <memory>

namespace paddle_mini {
namespace {

// Index maps from the grid to the list of `axis`.
AxisIndexMaps grid_index_maps(const Shape& grid, int axis) {
  AxisIndexMaps index_maps = unchanged_axes(grid);
  for (int i = 0; i < grid.rank(); ++i) {
    if (i != axis) index_maps[static_cast<size_t>(i)].in = 1, index_maps[static_cast<size_t>(i)].step = 0;
  }
  return index_maps;
}

Shape grid_of(const KernelInit& init) {
  Shape grid;
  for (size_t i = 0; i < init.input_count("X"); ++i) grid.push_back(init.input("X", i)->tensor.shape.numel());
  return grid;
}

struct MeshgridKernel : Kernel {
  std::vector<std::unique_ptr<Kernel>> copies;

  explicit MeshgridKernel(KernelInit& init) {
    Shape grid = grid_of(init);
    for (size_t i = 0; i < init.output_count("Out"); ++i) {
      if (!init.output("Out", i)) continue;
      copies.push_back(std::make_unique<AxisCopyKernel>(init.input("X", i), init.output("Out", i),
                                                        grid_index_maps(grid, static_cast<int>(i))));
    }
  }
  void run(KernelContext& context) override {
    for (const auto& copy : copies) copy->run(context);
  }
};

template <class T>
struct MeshgridGradKernel : Kernel {
  struct Part {
    In<T> from;
    Out<T> to;
    AxisLoop loop;
  };
  std::vector<Part> parts;

  explicit MeshgridGradKernel(KernelInit& init) {
    Shape grid = grid_of(init);
    for (size_t i = 0; i < init.output_count("X@GRAD"); ++i) {
      if (!init.output("X@GRAD", i)) continue;
      parts.push_back({In<T>(init, "outputs@GRAD", i), Out<T>(init, "X@GRAD", i),
                       AxisLoop(grid_index_maps(grid, static_cast<int>(i)))});
    }
  }
  void run(KernelContext& context) override {
    for (const Part& part : parts) part.loop.add_back(context, part.from.data(), part.to.data());
  }
};

Shape inferred_grid(const InferContext& c) {
  require_tensors(c);
  Shape grid;
  for (size_t i = 0; i < c.input_count("X"); ++i) {
    const VarInfo& x = c.input("X", i);
    require<ShapeError>(x.shape.rank() <= 1, "X[", i, "] has shape ", x.shape.str(), ", it must have one dimension");
    require<ShapeError>(x.dtype == c.input("X").dtype, "X[", i, "] is ", name_of(x.dtype), ", X[0] is ",
                        name_of(c.input("X").dtype));
    grid.push_back(x.shape.rank() ? x.shape[0] : 1);
  }
  if (grid.known()) grid.numel();  // refuses a shape that is too large
  return grid;
}

}  // namespace

void define_meshgrid(OpTable& ops) {
  ops.add(OpSchema("meshgrid")
              .doc("Out[i] = X[i] broadcast to the grid of all X: its elements vary along axis i.")
              .input_list("X", "vectors [n0], [n1], ... of one element type; [] counts as [1]")
              .output_list("Out", "one for each X, of shape [n0, n1, ...]")
              .infer([](InferContext& c) {
                Shape grid = inferred_grid(c);
                require<ProgramError>(c.output_count("Out") == c.input_count("X"), "there are ", c.output_count("Out"),
                                      " Out for ", c.input_count("X"), " X");
                for (size_t i = 0; i < c.output_count("Out"); ++i) {
                  c.output("Out", i) = VarInfo{VarKind::Tensor, c.input("X").dtype, grid};
                }
              })
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{
                    make_op("meshgrid_grad",
                            {{"X", forward.input("X")}, {"outputs@GRAD", gradient_names(forward.output("Out"))}},
                            {{"X@GRAD", gradient_names(forward.input("X"))}})};
              })
              .on_gpu()
              .kernel_for_any<MeshgridKernel>());
  ops.add(OpSchema("meshgrid_grad")
              .doc("X@GRAD[i] = the sum of outputs@GRAD[i] over all axes except axis i.")
              .input_list("X", "as in meshgrid")
              .shape_only("X")
              .input_list("outputs@GRAD", "the gradients of Out")
              .optional_output_list("X@GRAD", "shapes of the Xs; @EMPTY@ for a gradient that is not needed")
              .infer([](InferContext& c) {
                Shape grid = inferred_grid(c);
                size_t count = c.input_count("X");
                require<ProgramError>(c.input_count("outputs@GRAD") == count && c.output_count("X@GRAD") <= count,
                                      "there are ", c.input_count("outputs@GRAD"), " outputs@GRAD and ",
                                      c.output_count("X@GRAD"), " X@GRAD for ", count, " X");
                for (size_t i = 0; i < count; ++i) {
                  const VarInfo& out = c.input("outputs@GRAD", i);
                  require<ShapeError>(out.dtype == c.input("X").dtype && shapes_agree(out.shape, grid), "outputs@GRAD[",
                                      i, "] is ", out.str(), ", Out is ", grid.str(), " ", name_of(c.input("X").dtype));
                }
                gradients_like_inputs(c);
              })
              .on_gpu()
              .kernels<MeshgridGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
