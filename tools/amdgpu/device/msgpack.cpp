// A reader of MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md).
#include "device/msgpack.h"

namespace amdgpu {

namespace {

constexpr int kMaxDepth = 64;

class Reader {
 public:
  Reader(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  bool ok() const { return ok_; }

  Meta value(int depth = 0) {
    if (!ok_ || at_ >= end_ || depth > kMaxDepth) return damaged();
    const uint8_t t = *at_++;
    if (t < 0x80) return number(t);
    if (t < 0x90) return map(t & 15, depth);
    if (t < 0xa0) return list(t & 15, depth);
    if (t < 0xc0) return string(t & 31);
    if (t >= 0xe0) return number(static_cast<int8_t>(t));
    switch (t) {
      case 0xc0: return {};
      case 0xc2:
      case 0xc3: return number(t == 0xc3);
      case 0xca: big_endian(4); return {};  // floating point is not needed
      case 0xcb: big_endian(8); return {};
      case 0xcc: return number(static_cast<int64_t>(big_endian(1)));
      case 0xcd: return number(static_cast<int64_t>(big_endian(2)));
      case 0xce: return number(static_cast<int64_t>(big_endian(4)));
      case 0xcf: return number(static_cast<int64_t>(big_endian(8)));
      case 0xd0: return number(static_cast<int8_t>(big_endian(1)));
      case 0xd1: return number(static_cast<int16_t>(big_endian(2)));
      case 0xd2: return number(static_cast<int32_t>(big_endian(4)));
      case 0xd3: return number(static_cast<int64_t>(big_endian(8)));
      case 0xd9: return string(big_endian(1));
      case 0xda: return string(big_endian(2));
      case 0xdb: return string(big_endian(4));
      case 0xdc: return list(big_endian(2), depth);
      case 0xdd: return list(big_endian(4), depth);
      case 0xde: return map(big_endian(2), depth);
      case 0xdf: return map(big_endian(4), depth);
    }
    return damaged();
  }

 private:
  Meta damaged() {
    ok_ = false;
    return {};
  }

  uint64_t big_endian(int bytes) {
    if (end_ - at_ < bytes) {
      ok_ = false;
      return 0;
    }
    uint64_t v = 0;
    while (bytes--) v = v << 8 | *at_++;
    return v;
  }

  static Meta number(int64_t v) {
    Meta m;
    m.number = v;
    return m;
  }

  Meta string(uint64_t size) {
    if (static_cast<uint64_t>(end_ - at_) < size) return damaged();
    Meta m;
    m.string.assign(reinterpret_cast<const char*>(at_), size);
    at_ += size;
    return m;
  }

  // The size is not trusted: reading ends with the data.
  Meta list(uint64_t size, int depth) {
    Meta m;
    for (uint64_t i = 0; ok_ && i < size; i++) m.list.push_back(value(depth + 1));
    return m;
  }

  Meta map(uint64_t size, int depth) {
    Meta m;
    for (uint64_t i = 0; ok_ && i < size; i++) {
      std::string key = value(depth + 1).string;
      m.map.emplace_back(std::move(key), value(depth + 1));
    }
    return m;
  }

  const uint8_t *at_, *end_;
  bool ok_ = true;
};

}  // namespace

const Meta* Meta::find(const char* key) const {
  for (const auto& [name, value] : map)
    if (name == key) return &value;
  return nullptr;
}

int64_t Meta::number_of(const char* key, int64_t otherwise) const {
  const Meta* m = find(key);
  return m ? m->number : otherwise;
}

std::string Meta::string_of(const char* key) const {
  const Meta* m = find(key);
  return m ? m->string : std::string();
}

std::optional<Meta> parse_msgpack(const uint8_t* data, size_t size) {
  Reader reader(data, size);
  Meta m = reader.value();
  if (!reader.ok()) return std::nullopt;
  return m;
}

}  // namespace amdgpu
