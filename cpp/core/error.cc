// Composes error text, and makes it safe to print, whatever bytes a file has in its names.
#include "core/error.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "core/throwing_stream.h"

namespace paddle_mini {
namespace {

// Characters that printable() hides: control, line-ending, bidirectional, invisible and private ones, and invalid code
// points.
constexpr struct {
  unsigned first, last;
} kHidden[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},   {0x180e, 0x180e},
               {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},   {0xe000, 0xf8ff}, {0xfeff, 0xfeff},
               {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0x10ffff}};

bool is_shown(unsigned code) {
  return std::none_of(std::begin(kHidden), std::end(kHidden),
                      [&](auto range) { return code >= range.first && code <= range.last; });
}

// Length in bytes of the UTF-8 character at `i`; 0 if the bytes are not valid UTF-8 or the character is hidden. Python
// accepts only complete characters in a message.
size_t character_at(const std::string& text, size_t i) {
  auto byte = [&](size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
  unsigned first = byte(i);
  size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  unsigned code = length == 1 ? first : first & (0x7fu >> length);
  for (size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i + k) & 0x3f);
  }
  constexpr unsigned kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // a smaller code point has a shorter encoding
  bool begins_one = length == 1 || (first >= 0xc0 && first < 0xf8);
  bool character = begins_one && code >= kLeast[length] && code < 0x110000 && !(code >= 0xd800 && code < 0xe000);
  return character && is_shown(code) ? length : 0;
}

}  // namespace

void TextPart::append_to(std::string& text) const {
  if (kind_ == Kind::Text) text += text_;
  if (kind_ == Kind::Character) text += static_cast<char>(natural_);
  if (kind_ == Kind::Integer) text += std::to_string(integer_);
  if (kind_ == Kind::Natural) text += std::to_string(natural_);
  if (kind_ == Kind::Real) text += (Throwing<std::ostringstream>() << real_).str();
}

std::string concatenate(std::initializer_list<TextPart> parts) {
  std::string text;
  for (const TextPart& part : parts) part.append_to(text);
  return text;
}

std::string printable(const std::string& name, size_t limit) {
  std::string shown;
  size_t i = 0;
  while (i < name.size()) {
    size_t length = character_at(name, i);
    if (i + std::max<size_t>(length, 1) > limit) break;
    if (length) shown.append(name, i, length);
    else shown += '?';
    i += std::max<size_t>(length, 1);
  }
  return i == name.size() ? shown : shown + "...";
}

}  // namespace paddle_mini
