// MessagePack, as far as code objects use it: maps, lists, strings, whole numbers. Views the bytes it was read from.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace hf::gpu {

struct Pack {
  enum class Kind { Other, Number, Text, List, Map };  // Other: nil, booleans, floats, binary, extensions
  Kind kind = Kind::Other;
  int64_t number = 0;
  std::string_view text;
  std::vector<Pack> items;                                 // of a list
  std::vector<std::pair<std::string_view, Pack>> entries;  // of a map; keys that are no strings are left out

  /// The entry of this key; null if there is none, or this is no map.
  const Pack* find(std::string_view key) const;
  /// A number under this key.
  std::optional<int64_t> number_at(std::string_view key) const;
};

/// One value and nothing behind it. Nothing if the bytes are not that, nest deeper than 16, or hold a number beyond
/// int64.
std::optional<Pack> read_msgpack(std::string_view bytes);

}  // namespace hf::gpu
