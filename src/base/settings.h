// Settings: what the environment may say. settings.def is the list; nothing else reads the environment.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hf {

struct Setting {
  std::string_view member, variable, default_value, meaning;
  std::string value;  // in force
  bool from_environment;
};

/// All settings with their values now. A variable that is set but empty counts as not set.
std::vector<Setting> settings();
/// One value by its member name in settings.def ("log"); Internal if there is none of that name.
std::string setting(std::string_view member);
/// The value as a whole number >= 0, with a suffix K, M or G for powers of 1024. Throws InvalidArgument naming the
/// variable.
int64_t setting_number(std::string_view member);

}  // namespace hf
