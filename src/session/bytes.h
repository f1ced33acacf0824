// Numbers, strings and counts in a row of bytes, little-endian, read with every length checked.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"

namespace hf {

static_assert(std::endian::native == std::endian::little);

class ByteWriter {
 public:
  void number(uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view text) {
    number(text.size());
    bytes_.append(text);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Throws InvalidModel, naming what is read, where the bytes end too early or a count is more than they can hold.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string_view what) : bytes_(bytes), what_(what) {}
  uint64_t number() {
    uint64_t value;
    std::string_view from = take(sizeof value);
    std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(number()); }
  /// A number of things that take `least` bytes or more each.
  uint64_t count(uint64_t least) {
    uint64_t n = number();
    if (n > bytes_.size() / least) fail(Code::InvalidModel, "its {} is damaged: {} entries", what_, n);
    return n;
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view take(uint64_t count) {
    if (count > bytes_.size())
      fail(Code::InvalidModel, "its {} is damaged: {} bytes where {} are left", what_, count, bytes_.size());
    std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  std::string_view bytes_, what_;
};

}  // namespace hf
