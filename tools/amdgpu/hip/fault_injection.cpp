// Fault injection.
#include "hip/fault_injection.h"

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "device/support.h"
#include "hip/abi.h"

namespace amdgpu {

namespace {

struct Failure {
  uint64_t call = 1;
  bool and_later = false;
  int code = 0;
};
using Failures = std::map<std::string, std::vector<Failure>>;

// What the function would return if it failed of itself.
struct DefaultCode {
  const char* part;
  int code;
};
constexpr DefaultCode kDefaults[] = {{"Malloc", error::OutOfMemory},
                                     {"Launch", error::LaunchFailure},
                                     {"ModuleLoad", error::InvalidImage},
                                     {"", error::Unknown}};

int default_code(const std::string& function) {
  for (const DefaultCode& d : kDefaults)
    if (function.find(d.part) != std::string::npos) return d.code;
  return error::Unknown;
}

Failures parse() {
  Failures all;
  for (const std::string& one : split(env_text("AMDEMU_FAIL"), ",")) {
    const size_t colon = one.find(':');
    if (colon == std::string::npos) {
      log("AMDEMU_FAIL: cannot read '%s' (want function:n[+][=code])", one.c_str());
      continue;
    }
    const std::string function = one.substr(0, colon);
    Failure f;
    char* end;
    f.call = strtoul(one.c_str() + colon + 1, &end, 10);
    if (*end == '+') {
      f.and_later = true;
      end++;
    }
    if (*end == '=') f.code = atoi(end + 1);
    if (!f.code) f.code = default_code(function);
    all[function].push_back(f);
  }
  return all;
}

}  // namespace

int injected_failure(const char* function, uint64_t& number) {
  static auto& calls = *new std::map<std::string, uint64_t>;
  static const auto& failures = *new Failures(parse());
  number = ++calls[function];
  auto it = failures.find(function);
  if (it == failures.end()) return -1;
  for (const Failure& f : it->second) {
    if (f.and_later ? number < f.call : number != f.call) continue;
    log("injected failure %d in call %lu of %s", f.code, static_cast<unsigned long>(number), function);
    return f.code;
  }
  return -1;
}

}  // namespace amdgpu
