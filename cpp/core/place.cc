// Parses and prints places.
#include "core/place.h"

#include "core/error.h"

namespace paddle_mini {

std::string name_of(const Place& place) {
  if (place.is_cpu()) return "cpu";
  return (place.kind == DeviceKind::Gpu ? "gpu:" : "emulated:") + std::to_string(place.index);
}

Place parse_place(const std::string& spelling) {
  if (spelling == "cpu") return {};
  if (spelling == "gpu") return {DeviceKind::Gpu, 0};
  size_t colon = spelling.find(':');
  std::string kind = spelling.substr(0, colon), digits = colon == std::string::npos ? "" : spelling.substr(colon + 1);
  bool is_number = !digits.empty() && digits.size() <= 3 && digits.find_first_not_of("0123456789") == std::string::npos;
  require<DeviceError>(is_number && (kind == "gpu" || kind == "emulated"), "'", printable(spelling),
                       "' is not a device: write \"cpu\", \"gpu:0\" or \"emulated:0\"");
  return {kind == "gpu" ? DeviceKind::Gpu : DeviceKind::Emulated, std::stoi(digits)};
}

}  // namespace paddle_mini
