// Reading MessagePack by its specification (github.com/msgpack/msgpack, spec.md). Every length is checked against the
// bytes that are left before anything is taken.
#include "gpu/msgpack.h"

namespace hf::gpu {
namespace {

constexpr int kDepth = 16;

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool value(Pack& out, int depth) {
    uint64_t tag = 0;
    if (depth > kDepth || !number(1, tag)) return false;
    if (tag < 0x80) return whole(out, static_cast<int64_t>(tag));
    if (tag < 0x90) return map(out, tag & 15, depth);
    if (tag < 0xa0) return list(out, tag & 15, depth);
    if (tag < 0xc0) return text(out, tag & 31);
    if (tag >= 0xe0) return whole(out, static_cast<int64_t>(tag) - 256);
    uint64_t n = 0;
    switch (tag) {
      case 0xc0:
      case 0xc2:
      case 0xc3: return true;  // nil, false, true
      case 0xc4:
      case 0xc5:
      case 0xc6: return number(1 << (tag - 0xc4), n) && skip(n);  // binary
      case 0xca: return skip(4);                                  // floats
      case 0xcb: return skip(8);
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf: return number(1 << (tag - 0xcc), n) && n <= INT64_MAX && whole(out, static_cast<int64_t>(n));
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3: return signed_number(out, 1 << (tag - 0xd0));
      case 0xd9:
      case 0xda:
      case 0xdb: return number(1 << (tag - 0xd9), n) && text(out, n);
      case 0xdc:
      case 0xdd: return number(2 << (tag - 0xdc), n) && list(out, n, depth);
      case 0xde:
      case 0xdf: return number(2 << (tag - 0xde), n) && map(out, n, depth);
      default: return false;  // extensions, and what the format leaves free
    }
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  bool skip(uint64_t count) {
    if (count > bytes_.size()) return false;
    bytes_.remove_prefix(count);
    return true;
  }
  // Big-endian, of `count` bytes.
  bool number(int count, uint64_t& out) {
    if (static_cast<size_t>(count) > bytes_.size()) return false;
    out = 0;
    for (int i = 0; i < count; ++i) out = out << 8 | static_cast<unsigned char>(bytes_[static_cast<size_t>(i)]);
    return skip(static_cast<uint64_t>(count));
  }
  static bool whole(Pack& out, int64_t n) {
    out.kind = Pack::Kind::Number;
    out.number = n;
    return true;
  }
  bool signed_number(Pack& out, int count) {
    uint64_t n = 0;
    int unused = 64 - 8 * count;
    return number(count, n) && whole(out, static_cast<int64_t>(n << unused) >> unused);
  }
  bool text(Pack& out, uint64_t count) {
    out.kind = Pack::Kind::Text;
    out.text = bytes_.substr(0, count);
    return skip(count);
  }
  // Each item takes a byte or more.
  bool list(Pack& out, uint64_t count, int depth) {
    if (count > bytes_.size()) return false;
    out.kind = Pack::Kind::List;
    for (; count; --count)
      if (!value(out.items.emplace_back(), depth + 1)) return false;
    return true;
  }
  bool map(Pack& out, uint64_t count, int depth) {
    if (count > bytes_.size() / 2) return false;
    out.kind = Pack::Kind::Map;
    for (; count; --count) {
      Pack key, item;
      if (!value(key, depth + 1) || !value(item, depth + 1)) return false;
      if (key.kind == Pack::Kind::Text) out.entries.emplace_back(key.text, std::move(item));
    }
    return true;
  }

  std::string_view bytes_;
};

}  // namespace

const Pack* Pack::find(std::string_view key) const {
  for (const auto& [name, value] : entries)
    if (name == key) return &value;
  return nullptr;
}

std::optional<int64_t> Pack::number_at(std::string_view key) const {
  const Pack* p = find(key);
  return p && p->kind == Kind::Number ? std::optional(p->number) : std::nullopt;
}

std::optional<Pack> read_msgpack(std::string_view bytes) {
  Reader reader(bytes);
  Pack out;
  if (!reader.value(out, 0) || !reader.at_end()) return std::nullopt;
  return out;
}

}  // namespace hf::gpu
