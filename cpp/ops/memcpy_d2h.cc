// memcpy_d2h, memcpy_h2d, memcpy: Out = X, copied from a device to the host, from the host to a device, and in either
// direction
#include "core/op_table.h"
#include "ops/family/reshape.h"

namespace paddle_mini {
namespace {

// In a program, the operator copies when it runs. The executor also inserts operators of these types where a program's
// devices require a transfer, and executes those itself.
struct MemcpyKernel : MoveKernel {
  explicit MemcpyKernel(KernelInit& init) : MoveKernel(init.input("X"), init.output("Out")) {}
};

// The gradient is copied in the opposite direction.
OpSchema transfer(const char* type, const char* back, const char* doc, const char* where) {
  return OpSchema(type)
      .doc(doc)
      .input("X", "any shape")
      .output("Out", "shape of X")
      .attr("dst_place_type", 0, where)
      .infer([](InferContext& c) { c.set_output("Out", c.input("X")); })
      .gradient([back](const OpDesc& forward) {
        return std::vector<OpDesc>{make_op(back, {{"X", gradient_names(forward.output("Out"))}},
                                           {{"Out", gradient_names(forward.input("X"))}})};
      })
      .view("X", "Out")
      .on_gpu()
      .kernel_for_any<MemcpyKernel>();
}

}  // namespace

void define_memcpy_d2h(OpTable& ops) {
  ops.add(transfer("memcpy_d2h", "memcpy_h2d", "Out = X, in the memory of the host.", "kind of host memory; not used"));
  ops.add(transfer("memcpy_h2d", "memcpy_d2h", "Out = X, in the memory of the device.",
                   "kind of device; not used: op_device determines it"));
  ops.add(transfer("memcpy", "memcpy", "Out = X, in another memory.",
                   "kind of memory; not used: op_device determines it"));
}

}  // namespace paddle_mini
