// Kernels that read and write 16-bit floats: OpSchema::narrow_kernels. Only the CPU has them; on a GPU the executor casts.
#pragma once

#include "core/op_table.h"
#include "core/tiles.h"
#include "math/gemm.h"

namespace paddle_mini {

// Elementwise kernels, which convert in registers.
template <template <class> class K>
OpSchema with_halves(OpSchema schema) {
  if constexpr (!kOnGpu) schema.narrow_kernels<K, Float16, BFloat16>();
  return schema;
}

// Products, where the CPU has instructions for them.
template <template <class> class K>
OpSchema with_bfloat16_products(const OpTable& ops, OpSchema schema) {
  if constexpr (kHasBFloat16Gemm) {
    if (ops.multiplies_bfloat16()) schema.narrow_kernels<K, BFloat16>();
  }
  return schema;
}

// Convolutions, where the CPU has tiles for their products.
template <template <class> class K>
OpSchema with_bfloat16_convolutions(const OpTable& ops, OpSchema schema) {
  if constexpr (kHasBFloat16Gemm) {
    if (ops.multiplies_bfloat16() && wants_tiles()) schema.narrow_kernels<K, BFloat16>();
  }
  return schema;
}

}  // namespace paddle_mini
