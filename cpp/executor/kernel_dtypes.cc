// Lists and checks the element types of kernels.
#include "executor/kernel_dtypes.h"

#include "core/widening.h"

namespace paddle_mini {

std::string list_kernel_dtypes(const OpSchema& schema) {
  std::string list;
  for (const auto& dtypes : {schema.kernel_dtypes(), widened_dtypes(schema)}) {
    for (DType dtype : dtypes) list += text(list.empty() ? "" : ", ", name_of(dtype));
  }
  return list;
}

void check_kernel_dtype(const OpSchema& schema, const OpDesc& op, const std::vector<std::vector<VarInfo>>& inputs,
                        const std::vector<std::vector<VarInfo>>& outputs) {
  if (schema.role() != OpRole::Compute) return;  // feed and fetch accept all element types
  DType dtype = schema.kernel_dtype(op, inputs, outputs);
  require<ShapeError>(schema.kernel(dtype) || computes_in(schema, dtype), "no kernel for ", name_of(dtype),
                      "; there are kernels for ", list_kernel_dtypes(schema));
}

}  // namespace paddle_mini
