// The subset of MessagePack that the metadata note of a code object uses, read into a tree.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace amdgpu {

/// A value: a number (also booleans), text, a list or a map. What it is not is empty.
struct Meta {
  int64_t number = 0;
  std::string string;
  std::vector<Meta> list;
  std::vector<std::pair<std::string, Meta>> map;

  /// The map's value of that key; null if there is none.
  const Meta* find(const char* key) const;
  int64_t number_of(const char* key, int64_t otherwise = 0) const;
  std::string string_of(const char* key) const;
};

/// Nothing if the bytes are damaged.
std::optional<Meta> parse_msgpack(const uint8_t* data, size_t size);

}  // namespace amdgpu
