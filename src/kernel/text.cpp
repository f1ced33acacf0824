// Text that several families share.
#include "kernel/text.h"

#include <fmt/core.h>

namespace hf::kernel {

const std::string_view kWithin = R"hip(
DEV i64 within(i64 index, i64 extent) {
  index = index < 0 ? index + extent : index;
  return index < 0 ? 0 : index >= extent ? extent - 1 : index;
}
)hip";

std::string positions_text(const std::vector<int64_t>& extents, const std::string& at) {
  std::string text, rest = at;
  for (size_t k = extents.size(); k-- > 1;) {
    text += fmt::format("  const i64 i{0} = {1} % {2}ll, rest{0} = {1} / {2}ll;\n", k, rest, extents[k]);
    rest = fmt::format("rest{}", k);
  }
  return extents.empty() ? text : text + fmt::format("  const i64 i0 = {};\n", rest);
}

std::string offset_text(const std::vector<int64_t>& strides) {
  std::string text;
  for (size_t k = 0; k < strides.size(); ++k)
    if (strides[k]) text += fmt::format("{}i{} * {}ll", text.empty() ? "" : " + ", k, strides[k]);
  return text.empty() ? "0" : text;
}

}  // namespace hf::kernel
