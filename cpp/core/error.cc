// Error text that is safe to print whatever a file put into a name.
#include "core/error.h"

namespace paddle_mini {

std::string printable(const std::string& name, size_t limit) {
  std::string shown = name.size() <= limit ? name : name.substr(0, limit) + "...";
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return shown;
}

}  // namespace paddle_mini
