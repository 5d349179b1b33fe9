// A value of Fault::step besides 0 and the number of a step.
#pragma once

namespace paddle_mini {

// A kernel is writing the other members, and writes the step last: the host may read a Fault at any time.
inline constexpr unsigned long long kFaultIsWritten = ~0ull;

}  // namespace paddle_mini
