// Tracks the states that the library returned and that are not freed yet.
#pragma once

namespace paddle_mini {

void lend_state(const void* state);
// Returns false if the address is not in the set: never returned, or freed before.
bool take_back_state(const void* state);

}  // namespace paddle_mini
