// Templates of kernel text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hf::kernel {

/// The text with every `hole` ("$(name)") replaced.
inline std::string with_hole(std::string text, std::string_view hole, std::string_view with) {
  for (size_t at = 0; (at = text.find(hole, at)) != std::string::npos; at += with.size())
    text.replace(at, hole.size(), with);
  return text;
}

/// Statements "const i64 i0 = ...;" that say which position the element number `at` (an i64) of a row-major box has.
/// The outermost takes what is left, so that its extent is not in the text.
std::string positions_text(const std::vector<int64_t>& extents, const std::string& at);
/// "i0 * 12 + i1 * 4"; "0" for no axes.
std::string offset_text(const std::vector<int64_t>& strides);
/// DEV i64 within(i64 index, i64 extent): counted from the end where negative, limited to [0, extent - 1].
extern const std::string_view kWithin;

}  // namespace hf::kernel
