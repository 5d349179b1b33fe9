// Lists and checks the element types of kernels.
#include "executor/kernel_dtypes.h"

#include "core/widening.h"

namespace paddle_mini {

std::string list_kernel_dtypes(const OpSpec& spec) {
  std::string list;
  for (const auto& dtypes : {spec.kernel_dtypes(), widened_dtypes(spec)}) {
    for (DType dtype : dtypes) list += text(list.empty() ? "" : ", ", name_of(dtype));
  }
  return list;
}

void check_kernel_dtype(const OpSpec& spec, const OpDesc& op, const std::vector<std::vector<VarInfo>>& inputs,
                        const std::vector<std::vector<VarInfo>>& outputs) {
  if (spec.role() != OpRole::Compute) return;  // feed and fetch accept all element types
  DType dtype = spec.kernel_dtype(op, inputs, outputs);
  require<ShapeError>(spec.kernel(dtype) || computes_in(spec, dtype), "no kernel for ", name_of(dtype),
                      "; there are kernels for ", list_kernel_dtypes(spec));
}

}  // namespace paddle_mini
