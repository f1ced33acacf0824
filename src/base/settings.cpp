// Settings from the environment.
#include "base/settings.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"

namespace hf {
namespace {

constexpr struct {
  std::string_view member, variable, default_value, meaning;
} kSettings[] = {
#define SETTING(member, variable, value, meaning) {#member, variable, value, meaning},
#include "base/settings.def"
#undef SETTING
};

}  // namespace

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const auto& s : kSettings) {
    const char* given = std::getenv(std::string(s.variable).c_str());
    bool set = given && *given;
    all.push_back({s.member, s.variable, s.default_value, s.meaning, set ? given : std::string(s.default_value), set});
  }
  return all;
}

std::string setting(std::string_view member) {
  for (const Setting& s : settings())
    if (s.member == member) return s.value;
  check(false, "a setting that is read is in settings.def");
  return {};
}

int64_t setting_number(std::string_view member) {
  for (const Setting& s : settings()) {
    if (s.member != member) continue;
    std::string_view text = s.value;
    int shift = text.ends_with('K') ? 10 : text.ends_with('M') ? 20 : text.ends_with('G') ? 30 : 0;
    if (shift) text.remove_suffix(1);
    int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    bool ok = error == std::errc() && end == text.data() + text.size() && number >= 0 && number <= (INT64_MAX >> shift);
    if (!ok)
      fail(Code::InvalidArgument, "{}='{}' is no whole number (with K, M or G at the end, if any)", s.variable,
           s.value);
    return number << shift;
  }
  check(false, "a setting that is read is in settings.def");
  return 0;
}

}  // namespace hf
