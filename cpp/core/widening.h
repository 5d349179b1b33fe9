// Computing element types without a kernel in a wider type: inputs are cast to it and results back (executor/widen.h).
// 16-bit floats are computed in float32 and rounded once; some operators have narrow kernels that do so themselves. 8-bit
// and 16-bit integers are computed in int32 or int64 and truncated: sums, products and comparisons are the same modulo
// their width. If a schema lists them (also), bool is computed in integers and integers in floats: 32-bit integers are
// exact in float64, 64-bit integers up to 2^53.
#pragma once

#include <optional>

#include "core/op_schema.h"

namespace paddle_mini {

// The type of the kernel that computes `dtype`: `dtype` itself if it has one, a wider type, or none. `narrow_kernels`:
// whether those of OpSchema::narrow_kernels may be used.
std::optional<DType> computes_in(const OpSchema& schema, DType dtype, bool narrow_kernels = true);
// The types that are computed in another one, by casts or in narrow kernels.
std::vector<DType> widened_dtypes(const OpSchema& schema);
// Whether the port accepts 8-bit and 16-bit integers, which the kernel receives as int64.
bool takes_any_integers(const OpSchema& schema, const std::string& port);

// `infer` of functions with float results: Out has X's dtype, or float32 if X holds integers.
void infer_float_of_integers(InferContext& c);

// Parts of a schema: additional dtypes that are computed in a wider one, and ports that accept all integer types.
OpSchema also(std::initializer_list<DType> dtypes, OpSchema schema);
OpSchema any_integers(const char* port, OpSchema schema);

}  // namespace paddle_mini
