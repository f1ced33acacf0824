// Templates of kernel text.
#pragma once
#include <string>
#include <string_view>

namespace hf::kernel {

/// The text with every `hole` ("$(name)") replaced.
inline std::string with_hole(std::string text, std::string_view hole, std::string_view with) {
  for (size_t at = 0; (at = text.find(hole, at)) != std::string::npos; at += with.size())
    text.replace(at, hole.size(), with);
  return text;
}

}  // namespace hf::kernel
