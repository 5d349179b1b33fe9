// Reads /proc/self/cgroup. Each of its lines is NUMBER:CONTROLLERS:PATH; the line of v2 has no controllers.
#include "core/control_groups.h"

#include <fstream>

#include "core/throwing_stream.h"

namespace paddle_mini {
namespace {

// A group and its ancestors. Inside a container the path may be the host's, and only its last components, or none,
// exist: the topmost directory is then the container's own.
void each_directory(const std::string& mount, std::string group, const std::function<void(const std::string&)>& take) {
  take(mount);
  while (group.size() > 1) {
    take(mount + group);
    group.erase(group.rfind('/'));
  }
}

bool lists(const std::string& controllers, const std::string& one) {
  return ("," + controllers + ",").find("," + one + ",") != std::string::npos;
}

}  // namespace

void each_control_group(const std::string& root, const std::string& controller,
                        const std::function<void(const std::string&, bool)>& take) {
  Throwing<std::ifstream> groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (group.empty() || group[0] != '/') continue;
    const std::string mount = root + "/sys/fs/cgroup";
    if (controllers.empty()) {
      for (const char* at : {"", "/unified"}) {
        each_directory(mount + at, group, [&](const std::string& directory) { take(directory, true); });
      }
    } else if (lists(controllers, controller)) {
      for (const std::string& at : {controller, controllers}) {
        each_directory(mount + "/" + at, group, [&](const std::string& directory) { take(directory, false); });
      }
    }
  }
}

}  // namespace paddle_mini
