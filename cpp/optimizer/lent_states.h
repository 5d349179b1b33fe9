// The states that the library has given out and that were not freed yet.
#pragma once

namespace paddle_mini {

void lend_state(const void* state);
// False for what was not lent, or was taken back before.
bool take_back_state(const void* state);

}  // namespace paddle_mini
