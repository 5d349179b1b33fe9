// feed: Out = the value that the caller of a run feeds under this name
#include "core/op_table.h"

namespace paddle_mini {

void define_feed(OpTable& ops) {
  ops.add(OpSchema("feed")
              .doc("Marks Out as an input of an inference program, number `col` of them. The value comes from "
                   "the caller.")
              .input("X", "the list of feeds")
              .output("Out", "the variable that is fed")
              .attr("col", 0, "which input of the program, from 0", at_least(0))
              .infer([](InferContext&) { /* the program's declaration of Out says what may be fed */ })
              .no_gradient("it brings in data")
              .role(OpRole::Feed));
}

}  // namespace paddle_mini
