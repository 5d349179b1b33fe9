// Master parameters of mixed precision: an optimizer's step changes a float32 copy of a 16-bit parameter, which is then
// rounded. As in PaddlePaddle, the copy is at the ports MasterParam and MasterParamOut. Its RMSProp leaves the attribute
// multi_precision false, so only the ports count.
#pragma once

#include "core/op_schema.h"

namespace paddle_mini {

enum class Updates { One, Several };  // parameters of a step
// The schema of an optimizer with the ports and the attribute of a master parameter. Beside it, the state and
// LearningRate are float32, and Grad is of 16 bits or float32. The executor runs such a step as step_on_master gives it.
OpSchema with_master(OpSchema schema, Updates updates = Updates::One);

bool has_master(const OpDesc& op);
// The step with the master parameter as Param and ParamOut, all of float32.
OpDesc step_on_master(const OpDesc& op);

}  // namespace paddle_mini
