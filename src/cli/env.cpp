// hipforge env: the settings, their values, and where those come from.
#include "base/settings.h"
#include "cli/program.h"
#include "cli/reports.h"

namespace hf::cli {

int list_settings(const Command& command, const Arguments& arguments) {
  bool json = false;
  if (!parse(command, {{"--json", "", &json, "report as JSON"}}, arguments)) return 0;
  if (json) return fmt::print("{}", to_json(settings())), 0;
  for (const Setting& s : settings())
    fmt::print("{:<20}{:<12}{:<13}{}\n", s.variable, s.value.empty() ? "-" : s.value,
               s.from_environment ? "environment" : "default", s.meaning);
  return 0;
}

}  // namespace hf::cli
