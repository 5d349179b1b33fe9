// Which loops were split among threads, for tests and for the documentation.
#pragma once

namespace paddle_mini {

// The expected time in nanoseconds of the longest loop that was split since the last call; 0: none.
double take_longest_split_loop();

}  // namespace paddle_mini
