// The control groups (cgroup v2 and v1) that contain this process and limit its memory and CPU time.
#pragma once

#include <functional>
#include <string>

namespace paddle_mini {

// Calls take(directory, is_v2) for each directory with the limits of `controller` ("memory", "cpu") for this process: those
// of its group and of the group's ancestors. `root` replaces "/".
void each_control_group(const std::string& root, const std::string& controller,
                        const std::function<void(const std::string& directory, bool is_v2)>& take);

}  // namespace paddle_mini
