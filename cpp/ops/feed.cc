// feed: Out = the value that the caller of a run feeds under this name
#include "core/op_table.h"

namespace paddle_mini {

void define_feed(OpTable& ops) {
  ops.add(OpSchema("feed")
              .doc("Marks Out as input number `col` of an inference program. The caller gives the value.")
              .input("X", "the list of feeds")
              .output("Out", "the variable that is fed")
              .attr("col", 0, "the index of the input, from 0", at_least(0))
              .infer([](InferContext&) { /* the program's declaration of Out defines the values that may be fed */ })
              .no_gradient("it is an input of the program")
              .role(OpRole::Feed));
}

}  // namespace paddle_mini
