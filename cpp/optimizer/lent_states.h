// Tracks the states and snapshots that the library returned and that are not freed yet.
#pragma once

#include <memory>

#include "optimizer/snapshot.h"

namespace paddle_mini {

void lend_state(const void* state);
// Returns false if the address is not in the set: never returned, or freed before.
bool take_back_state(const void* state);

const void* lend_snapshot(std::shared_ptr<Snapshot> snapshot);
// Throws ProgramError for an address that was never returned, or is released.
std::shared_ptr<Snapshot> lent_snapshot(const void* snapshot);
void take_back_snapshot(const void* snapshot);  // throws as lent_snapshot

}  // namespace paddle_mini
