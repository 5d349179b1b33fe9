// shard_index: Out = the indices X relative to one of several shards
#include "core/op_table.h"

namespace paddle_mini {
namespace {

template <class T>
struct ShardIndexKernel : Kernel {
  In<T> x;
  Out<T> out;
  int64_t index_num, shard_size, shard_id;
  T ignore_value;

  explicit ShardIndexKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), index_num(init.attr<int32_t>("index_num")),
        shard_id(init.attr<int32_t>("shard_id")), ignore_value(init.attr<int32_t>("ignore_value")) {
    int64_t shards = init.attr<int32_t>("nshards");
    shard_size = (index_num + shards - 1) / shards;
  }

  void refuse(const Fault& fault) const override { refuse_index(fault.value, fault.at); }
  [[noreturn]] void refuse_index(int64_t value, int64_t at) const {
    fail<OpError>("X has ", value, " at position ", at, ": an index must be from 0 to ", index_num - 1);
  }

  void run(KernelContext& context) override;
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(shard_index)

namespace paddle_mini {

void define_shard_index(OpTable& ops) {
  ops.add(OpSchema("shard_index")
              .doc("Each shard holds ceil(index_num / nshards) consecutive indices; Out = the position of each index "
                   "of X in the shard shard_id, or ignore_value if another shard holds it.")
              .input("X", "indices from 0 to index_num - 1, [..., 1], int32 or int64")
              .output("Out", "shape of X")
              .required_attr("index_num", AttrType::Int, "the number of indices", at_least(1))
              .required_attr("nshards", AttrType::Int, "the number of shards", at_least(1))
              .required_attr("shard_id", AttrType::Int, "the number of this shard, from 0", at_least(0))
              .attr("ignore_value", -1, "the value for indices of other shards")
              .infer([](InferContext& c) {
                require_tensors(c);
                int32_t shards = c.attr<int32_t>("nshards"), shard = c.attr<int32_t>("shard_id");
                require<ProgramError>(shard < shards, "attribute 'shard_id' is ", shard, ", but there are ", shards,
                                      " shards");
                const Shape& x = c.shape("X");
                require<ShapeError>(x.rank() == 0 || dims_agree(x[x.rank() - 1], 1), "X has shape ", x.str(),
                                    ", its last dimension must be 1");
                c.set_output("Out", c.input("X"));
              })
              .no_gradient("indices are integers, which have no gradient")
              .in_place("X", "Out")
              .checks_data()
              .on_gpu()
              .kernels<ShardIndexKernel, int32_t, int64_t>());
}

}  // namespace paddle_mini
