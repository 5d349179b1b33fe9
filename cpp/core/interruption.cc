// Implements the per-thread interruption check.
#include "core/interruption.h"

#include "core/error.h"

namespace paddle_mini {
namespace {

thread_local InterruptPoller* current = nullptr;

}  // namespace

Interruptible::Interruptible(InterruptPoller* stop) : before_(current) { current = stop; }
Interruptible::~Interruptible() { current = before_; }

void poll_interruption() {
  if (current && (*current)()) throw Interrupted("stopped");
}

}  // namespace paddle_mini
