// Element types that an operator has no kernel for, but is computed in by way of a wider one: values are cast to it and
// results back (executor/widen.h). 16-bit floats are computed in float32 and rounded once. Integers of 8 and 16 bits are
// computed in int32 or int64 and cut to their width: sums, products and comparisons are the same modulo that. Where a
// record says so (also) bool is computed in integers, and integers in floats: those of 32 bits are exact in
// float64, those of 64 bits up to 2^53.
#pragma once

#include <optional>

#include "core/op_spec.h"

namespace paddle_mini {

// The element type in which `dtype` is computed: itself where it has a kernel, a wider one, or none.
std::optional<DType> computes_in(const OpSpec& spec, DType dtype);
std::vector<DType> widened_dtypes(const OpSpec& spec);  // those that are computed in another one
// Whether integers of 8 and 16 bits may stand at the port, which the kernel is given as int64.
bool takes_any_integers(const OpSpec& spec, const std::string& port);

// `infer` of functions that are floats: Out has X's type, or float32 where X is integers.
void infer_float_of_integers(InferContext& c);

// Parts of a record: more types that are computed in a wider one, and ports of any integers.
OpSpec also(std::initializer_list<DType> dtypes, OpSpec spec);
OpSpec any_integers(const char* port, OpSpec spec);

}  // namespace paddle_mini
