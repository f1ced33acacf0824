// Small helpers of the emulator.
#include "device/support.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace amdgpu {

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::string env_text(const char* name, const char* otherwise) {
  const char* v = getenv(name);
  return v && *v ? v : otherwise;
}

long env_int(const char* name, long otherwise) {
  const char* v = getenv(name);
  return v && *v ? strtol(v, nullptr, 0) : otherwise;
}

void log(const char* format, ...) {
  char line[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  fprintf(stderr, "amdemu: %s\n", line);
  fflush(stderr);
}

std::string text(const char* format, ...) {
  char line[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return line;
}

bool starts_with(const std::string& s, const char* prefix) { return s.compare(0, strlen(prefix), prefix) == 0; }

bool ends_with(const std::string& s, const char* suffix) {
  const size_t n = strlen(suffix);
  return s.size() >= n && s.compare(s.size() - n, n, suffix) == 0;
}

std::vector<std::string> split(const std::string& s, const char* separators) {
  std::vector<std::string> parts;
  for (size_t begin = 0; (begin = s.find_first_not_of(separators, begin)) != std::string::npos;) {
    const size_t end = std::min(s.find_first_of(separators, begin), s.size());
    parts.push_back(s.substr(begin, end - begin));
    begin = end;
  }
  return parts;
}

void fill_pattern(void* at, uint16_t pattern, size_t bytes) {
  auto* b = static_cast<uint8_t*>(at);
  size_t i = 0;
  for (; i < bytes && i < 64; i++) {
    const bool odd = reinterpret_cast<uintptr_t>(b + i) & 1;
    b[i] = static_cast<uint8_t>(odd ? pattern >> 8 : pattern);
  }
  // The rest is copied from what is there, twice as much each time.
  while (i < bytes) {
    const size_t n = std::min(bytes - i, i & ~size_t{1});
    memcpy(b + i, b + (i & 1), n);
    i += n;
  }
}

}  // namespace amdgpu
