// Small helpers of the emulator: environment, log, text, time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace amdgpu {

constexpr uint64_t kPage = 4096;

/// v rounded up to a multiple of alignment.
inline uint64_t round_up(uint64_t v, uint64_t alignment) { return (v + alignment - 1) / alignment * alignment; }

/// Seconds of a monotonic clock.
double now();
/// The environment variable, or the default where it is unset or empty.
std::string env_text(const char* name, const char* otherwise = "");
long env_int(const char* name, long otherwise);
/// One line on stderr, prefixed with "amdemu: ".
void log(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));
bool starts_with(const std::string& s, const char* prefix);
bool ends_with(const std::string& s, const char* suffix);
/// The non-empty parts between any of the separators.
std::vector<std::string> split(const std::string& s, const char* separators);
/// Fills memory with a 16-bit pattern, aligned to even addresses.
void fill_pattern(void* at, uint16_t pattern, size_t bytes);

}  // namespace amdgpu
