// Whether products use the tile registers of AMX, which a process must ask Linux for.
#pragma once

namespace paddle_mini {

// Called when a kernel library is loaded, before its operators are defined: whether its level has tiles.
void use_tiles(bool wanted);
bool wants_tiles();
// Whether products of this process use them. The first call asks for them, not the import of the library: with them the
// frame of a signal is 8 KB larger, and Linux refuses smaller alternate stacks. It refuses the tiles where a thread has
// such a stack already; products then have other instructions (Linux, Documentation/arch/x86/xstate.rst).
bool may_use_tiles();

}  // namespace paddle_mini
