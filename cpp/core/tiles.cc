// Asks for tiles.
#include "core/tiles.h"

#include <atomic>

#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace paddle_mini {
namespace {

std::atomic<bool> wanted_tiles{false};

// For all threads of the process, and for its children.
bool request() {
#if defined(__x86_64__)
  constexpr int kRequest = 0x1023;  // ARCH_REQ_XCOMP_PERM of asm/prctl.h
  constexpr unsigned long kTileData = 18;  // the state component XTILEDATA
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace

void use_tiles(bool wanted) { wanted_tiles = wanted; }
bool wants_tiles() { return wanted_tiles; }

bool may_use_tiles() {
  static const bool granted = wanted_tiles && request();
  return granted;
}

}  // namespace paddle_mini
