// fetch: returns X to the caller of a run
#include "core/op_table.h"

namespace paddle_mini {

void define_fetch(OpTable& ops) {
  ops.add(OpSchema("fetch")
              .doc("Marks X as result number `col` of an inference program.")
              .input("X", "the variable that is fetched")
              .output("Out", "the list of results")
              .attr("col", 0, "the index of the result, from 0", at_least(0))
              .infer([](InferContext& c) {
                VarInfo list;
                list.kind = VarKind::FetchList;
                c.set_output("Out", list);
              })
              .no_gradient("it is an output of the program")
              .role(OpRole::Fetch));
}

}  // namespace paddle_mini
