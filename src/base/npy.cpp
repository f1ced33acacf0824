// Reading and writing .npy files.
#include "base/npy.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include "base/convert.h"
#include "base/error.h"
#include "base/mapped_file.h"

namespace hf {
namespace {

static_assert(std::endian::native == std::endian::little);

struct Row {
  std::string_view type;  // NumPy's kind and size
  DType dtype;
  int word;  // bytes that a byte order applies to
};

constexpr Row kRows[] = {
    {"f4", DType::F32, 4}, {"f2", DType::F16, 2},   {"f8", DType::F64, 8}, {"i1", DType::I8, 1},
    {"i2", DType::I16, 2}, {"i4", DType::I32, 4},   {"i8", DType::I64, 8}, {"u1", DType::U8, 1},
    {"u2", DType::U16, 2}, {"u4", DType::U32, 4},   {"u8", DType::U64, 8}, {"b1", DType::Bool, 1},
    {"c8", DType::C64, 4}, {"c16", DType::C128, 8},
};

[[noreturn]] void fail_type(const std::string& type) {
  if (type.find('V') != std::string::npos)
    fail(Code::Unsupported, ".npy elements of raw type '{}', perhaps bfloat16 or float8: save them as float32", type);
  fail(Code::Unsupported, ".npy elements of type '{}'", type);
}

// Element i in C order is element at(i) in the file: walks the positions of a Fortran-ordered array.
class Order {
 public:
  Order(const Dims& dims, bool fortran) : dims_(dims), strides_(dims.strides()), index_(Dims::filled(dims.rank(), 0)) {
    if (!fortran) return;
    for (int i = 0; i < dims.rank(); ++i) strides_[i] = i ? strides_[i - 1] * std::max<int64_t>(dims[i - 1], 1) : 1;
  }
  int64_t at() const { return at_; }
  void next() {
    for (int i = dims_.rank() - 1; i >= 0; --i) {
      at_ += strides_[i];
      if (++index_[i] < dims_[i]) return;
      at_ -= strides_[i] * dims_[i];
      index_[i] = 0;
    }
  }

 private:
  Dims dims_, strides_, index_;
  int64_t at_ = 0;
};

std::span<const std::byte> elements(std::span<const std::byte> bytes, const NpyHeader& h, int64_t element_bytes) {
  auto have = static_cast<int64_t>(bytes.size() - h.data_at);
  int64_t count = h.dims.count();
  // Elements of no bytes could be claimed without number.
  int64_t most = have / std::max<int64_t>(element_bytes, 1);
  if (count > most)
    fail(Code::InvalidArgument, "the .npy file is cut off: {} bytes of elements, wanted {} of {} bytes", have, count,
         element_bytes);
  return bytes.subspan(h.data_at);
}

Tensor read_numbers(std::span<const std::byte> bytes, const NpyHeader& h, const Row& row, bool big_endian) {
  int64_t size = bits(row.dtype) / 8;
  const std::byte* from = elements(bytes, h, size).data();
  Tensor t(row.dtype, h.dims);
  auto* to = static_cast<std::byte*>(t.raw());
  if (!h.fortran_order) {
    if (t.size()) std::memcpy(to, from, static_cast<size_t>(t.size_bytes()));
  } else {
    Order order(h.dims, true);
    for (int64_t i = 0; i < t.size(); ++i, order.next())
      std::memcpy(to + i * size, from + order.at() * size, static_cast<size_t>(size));
  }
  if (big_endian && row.word > 1)
    for (int64_t i = 0; i < t.size_bytes(); i += row.word) std::reverse(to + i, to + i + row.word);
  if (row.dtype == DType::Bool)
    for (int64_t i = 0; i < t.size(); ++i) to[i] = std::byte{to[i] != std::byte{0}};
  return t;
}

void append_utf8(uint32_t c, std::string& out) {
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) fail(Code::InvalidArgument, "{} is not a unicode character", c);
  auto put = [&](uint32_t b) { out += static_cast<char>(b); };
  if (c < 0x80) return put(c);
  if (c < 0x800)
    put(0xc0 | c >> 6);
  else if (c < 0x10000)
    put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 63));
  else
    put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 63)), put(0x80 | (c >> 6 & 63));
  put(0x80 | (c & 63));
}

// Strings of a fixed length, filled up with zeros: bytes ('S') or characters of 4 bytes ('U').
Tensor read_strings(std::span<const std::byte> bytes, const NpyHeader& h, int64_t length, int width, bool big_endian) {
  const std::byte* from = elements(bytes, h, length * width).data();
  Tensor t(DType::String, h.dims);
  Order order(h.dims, h.fortran_order);
  std::vector<uint32_t> characters(static_cast<size_t>(length));
  for (std::string& s : t.strings()) {
    for (int64_t k = 0; k < length; ++k) {
      std::byte word[4] = {};
      std::memcpy(word, from + (order.at() * length + k) * width, static_cast<size_t>(width));
      if (big_endian && width == 4) std::reverse(word, word + 4);
      std::memcpy(&characters[static_cast<size_t>(k)], word, 4);
    }
    int64_t end = length;
    while (end > 0 && characters[static_cast<size_t>(end - 1)] == 0) --end;
    for (int64_t k = 0; k < end; ++k) {
      if (width == 1)
        s += static_cast<char>(characters[static_cast<size_t>(k)]);
      else
        append_utf8(characters[static_cast<size_t>(k)], s);
    }
    order.next();
  }
  return t;
}

// What NumPy can hold: the tensor, or its values in a wider type.
Tensor widened(const Tensor& t) {
  for (const Row& row : kRows)
    if (row.dtype == t.dtype()) return t;
  Tensor wide(is_float(t.dtype()) ? DType::F32 : is_signed_int(t.dtype()) ? DType::I8 : DType::U8, t.dims());
  std::vector<float> values(static_cast<size_t>(t.size()));  // exact for all of these types
  read_elements(t, values.data());
  write_elements(values.data(), wide);
  return wide;
}

std::string header(const std::string& type, const Dims& dims) {
  std::string shape;
  for (int64_t d : dims) shape += std::to_string(d) + ", ";
  if (dims.rank() > 1) shape.resize(shape.size() - 2);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  size_t total = (10 + text.size() + 1 + 63) / 64 * 64;  // the elements begin at a multiple of 64
  text.resize(total - 11, ' ');
  text += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(text.size() & 255);
  out += static_cast<char>(text.size() >> 8);
  return out + text;
}

// The characters of UTF-8; bytes that are none stand for themselves.
std::vector<uint32_t> characters_of(const std::string& s) {
  std::vector<uint32_t> out;
  for (size_t i = 0; i < s.size();) {
    auto b = static_cast<uint8_t>(s[i]);
    int more = b >= 0xf0 && b < 0xf8 ? 3 : b >= 0xe0 && b < 0xf0 ? 2 : b >= 0xc0 && b < 0xe0 ? 1 : 0;
    uint32_t c = more ? b & (0x3fu >> more) : b;
    size_t end = i + static_cast<size_t>(more) + 1;
    bool good = end <= s.size();
    for (size_t k = i + 1; good && k < end; ++k) {
      good = (static_cast<uint8_t>(s[k]) & 0xc0) == 0x80;
      c = c << 6 | (static_cast<uint8_t>(s[k]) & 63);
    }
    out.push_back(good ? c : b);
    i = good ? end : i + 1;
  }
  return out;
}

std::string strings_to_bytes(const Tensor& t) {
  std::vector<std::vector<uint32_t>> all;
  size_t longest = 1;
  for (const std::string& s : t.strings()) {
    all.push_back(characters_of(s));
    longest = std::max(longest, all.back().size());
  }
  std::string out = header(fmt::format("<U{}", longest), t.dims());
  for (auto& s : all) {
    s.resize(longest);
    out.append(reinterpret_cast<const char*>(s.data()), longest * 4);
  }
  return out;
}

}  // namespace

Tensor npy_from_bytes(std::span<const std::byte> bytes) {
  NpyHeader h = read_npy_header(bytes);
  bool big_endian = h.type.starts_with('>');
  std::string_view type = h.type;
  if (!type.empty() && std::string_view("<>|=").find(type[0]) != std::string_view::npos) type.remove_prefix(1);
  for (const Row& row : kRows)
    if (row.type == type) return read_numbers(bytes, h, row, big_endian);
  if (!type.starts_with('U') && !type.starts_with('S')) fail_type(h.type);
  uint32_t length = 0;
  auto [end, error] = std::from_chars(type.data() + 1, type.data() + type.size(), length);
  if (error != std::errc() || end != type.data() + type.size() || length > bytes.size()) fail_type(h.type);
  return read_strings(bytes, h, length, type[0] == 'U' ? 4 : 1, big_endian);
}

Tensor read_npy(const std::filesystem::path& path) {
  std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  auto where = context([&] { return path.filename().string(); });
  return npy_from_bytes(file->bytes());
}

std::string npy_to_bytes(const Tensor& tensor) {
  check(tensor.defined(), "a tensor to write is defined");
  if (tensor.dtype() == DType::String) return strings_to_bytes(tensor);
  const Tensor t = widened(tensor);
  auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.dtype == t.dtype(); });
  std::string out = header(fmt::format("{}{}", row->word > 1 ? '<' : '|', row->type), t.dims());
  out.append(static_cast<const char*>(t.raw()), static_cast<size_t>(t.size_bytes()));
  return out;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  std::string bytes = npy_to_bytes(tensor);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) fail(Code::Io, "'{}' cannot be written: {}", path.string(), std::strerror(errno));
}

}  // namespace hf
