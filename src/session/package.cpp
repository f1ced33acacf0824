// The format of .hfp files.
#define XXH_INLINE_ALL
#include "session/package.h"

#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdio>

#include "kernel/device_header.h"
#include "session/bytes.h"

namespace hf {
namespace {

// As PNG's: no text, and damaged by whatever changes line ends or drops the eighth bit.
constexpr std::string_view kMagic = "\x89HFP\r\n\x1a\n";
constexpr uint64_t kFormat = 1;
constexpr uint64_t kAlignment = 64;

struct Header {
  char magic[8];
  uint64_t format, sections;
  uint64_t file_bytes;
  uint64_t checksum;  // of the table
};

enum class Kind : uint64_t { Info = 1, Model = 2, External = 3, Code = 4 };

struct Section {
  Kind kind;
  uint64_t offset, bytes, checksum;
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

template <class T>
std::string_view bytes_of_object(const T& object) {
  return {reinterpret_cast<const char*>(&object), sizeof object};
}

// ---- Sections with a structure.

std::string info_of(const Package& p) {
  ByteWriter w;
  w.text(p.name);
  w.text(p.kernels);
  w.number(static_cast<uint64_t>(p.precision));
  w.number(p.external.size());
  for (const auto& [location, file] : p.external) w.text(location);
  w.number(p.shapes.size());
  for (const Shapes& shapes : p.shapes) {
    w.number(shapes.size());
    for (const auto& [name, dims] : shapes) {
      w.text(name);
      w.number(static_cast<uint64_t>(dims.rank()));
      for (int64_t d : dims) w.number(static_cast<uint64_t>(d));
    }
  }
  return w.bytes();
}

Shapes read_shapes(ByteReader& r) {
  Shapes shapes;
  for (uint64_t n = r.count(16); n; --n) {
    std::string name(r.text());
    Dims dims;
    uint64_t rank = r.count(8);
    if (rank > kMaxRank) fail(Code::InvalidModel, "its description is damaged: a rank of {}", rank);
    for (; rank; --rank) {
      auto extent = static_cast<int64_t>(r.number());
      if (extent < 0) fail(Code::InvalidModel, "its description is damaged: an extent of {}", extent);
      dims.push_back(extent);
    }
    shapes[name] = dims;
  }
  return shapes;
}

// The description; the locations of external data, whose sections follow in this order.
std::vector<std::string> read_info(std::string_view bytes, Package& p) {
  ByteReader r(bytes, "description");
  p.name = r.text();
  p.kernels = r.text();
  uint64_t precision = r.number();
  p.precision = static_cast<DType>(precision);
  if (precision != static_cast<uint64_t>(DType::F32) && precision != static_cast<uint64_t>(DType::F16) &&
      precision != static_cast<uint64_t>(DType::BF16))
    fail(Code::InvalidModel, "its description is damaged: a precision of {}", precision);
  std::vector<std::string> locations;
  for (uint64_t n = r.count(8); n; --n) locations.emplace_back(r.text());
  for (uint64_t n = r.count(8); n; --n) p.shapes.push_back(read_shapes(r));
  return locations;
}

std::string code_of(const Package::Code& c) {
  ByteWriter w;
  w.text(c.target.arch);
  w.number(static_cast<uint64_t>(c.target.wave_size));
  w.number(static_cast<uint64_t>(c.target.lds_bytes));
  w.number(static_cast<uint64_t>(c.target.compute_units));
  w.number(c.objects->objects.size());
  for (const auto& [key, object] : c.objects->objects) {
    w.text(key);
    w.text(object);
  }
  return w.bytes();
}

Package::Code read_code(std::string_view bytes, std::shared_ptr<const void> owner) {
  ByteReader r(bytes, "code");
  auto number = [&](const char* what, uint64_t most) {
    uint64_t n = r.number();
    if (n == 0 || n > most) fail(Code::InvalidModel, "its code is damaged: {} is {}", what, n);
    return n;
  };
  Package::Code c;
  c.target.arch = r.text();
  c.target.wave_size = static_cast<int>(number("the wave's size", 64));
  c.target.lds_bytes = static_cast<int64_t>(number("the size of LDS", 1 << 24));
  c.target.compute_units = static_cast<int>(number("the number of compute units", 1 << 16));
  auto objects = std::make_shared<gpu::CodePackage>();
  objects->arch = c.target.arch;
  objects->owner = std::move(owner);
  for (uint64_t n = r.count(16); n; --n) {
    std::string key(r.text());
    objects->objects[key] = r.text();
  }
  c.objects = std::move(objects);
  return c;
}

// ---- The file.

Header read_header(std::string_view file) {
  Header h{};
  if (file.size() < sizeof h) fail(Code::InvalidModel, "the package is cut off: it has {} bytes", file.size());
  std::memcpy(&h, file.data(), sizeof h);
  if (h.format != kFormat)
    fail(Code::InvalidModel, "the package is of format {}, this version of hipforge reads format {}", h.format,
         kFormat);
  if (h.file_bytes > file.size())
    fail(Code::InvalidModel, "the package is cut off: it has {} of {} bytes", file.size(), h.file_bytes);
  if (h.file_bytes < file.size())
    fail(Code::InvalidModel, "the package is damaged: it has {} bytes, not {}", file.size(), h.file_bytes);
  return h;
}

std::vector<Section> read_table(std::string_view file) {
  Header h = read_header(file);
  if (h.sections > (file.size() - sizeof h) / sizeof(Section))
    fail(Code::InvalidModel, "the package is damaged: {} sections", h.sections);
  std::string_view table = file.substr(sizeof h, h.sections * sizeof(Section));
  if (section_checksum(table) != h.checksum)
    fail(Code::InvalidModel, "the package is damaged: its table is not as written");
  std::vector<Section> sections(h.sections);
  if (!table.empty()) std::memcpy(sections.data(), table.data(), table.size());
  return sections;
}

std::string_view contents(std::string_view file, const Section& s) {
  if (s.offset > file.size() || s.bytes > file.size() - s.offset)
    fail(Code::InvalidModel, "the package is damaged: a section of {} bytes at {}", s.bytes, s.offset);
  std::string_view bytes = file.substr(s.offset, s.bytes);
  if (section_checksum(bytes) != s.checksum)
    fail(Code::InvalidModel, "the package is damaged: bytes {} to {} are not as written", s.offset, s.offset + s.bytes);
  return bytes;
}

// A file that is removed unless it is kept.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path)
      : path_(path.string()), temporary_(fmt::format("{}.{}.tmp", path_, ::getpid())) {
    file_ = std::fopen(temporary_.c_str(), "wbx");
    if (!file_) give_up();
  }
  ~NewFile() {
    if (file_) std::fclose(file_);
    if (!kept_) ::unlink(temporary_.c_str());
  }
  void write(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) give_up();
  }
  void keep() {
    bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
    if (!closed || ::rename(temporary_.c_str(), path_.c_str()) != 0) give_up();
    kept_ = true;
  }

 private:
  [[noreturn]] void give_up() { fail(Code::Io, "'{}' cannot be written: {}", path_, std::strerror(errno)); }
  std::string path_, temporary_;
  std::FILE* file_ = nullptr;
  bool kept_ = false;
};

uint64_t aligned(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

uint64_t section_checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string kernels_name() {
  return gpu::package_key({.name = "header", .text = kernel::device_header(), .entries = {}, .defines = {}});
}

bool is_package(std::span<const std::byte> bytes) { return text_of(bytes).starts_with(kMagic); }

Package read_package(const std::shared_ptr<const MappedFile>& mapped) {
  std::string_view file = text_of(mapped->bytes());
  check(is_package(mapped->bytes()), "only a package is read as one");
  Package p;
  std::vector<std::string> locations;
  bool described = false;
  size_t external = 0;
  for (const Section& s : read_table(file)) {
    std::string_view bytes = contents(file, s);
    FileBytes view{bytes_of(bytes), mapped};
    switch (s.kind) {
      case Kind::Info:
        locations = read_info(bytes, p);
        described = true;
        break;
      case Kind::Model: p.model = view; break;
      case Kind::External:
        if (external == locations.size()) fail(Code::InvalidModel, "the package is damaged: too much external data");
        p.external[locations[external++]] = view;
        break;
      case Kind::Code: p.code.push_back(read_code(bytes, mapped)); break;
      default: break;  // of a later version, which meant it to be skipped
    }
  }
  if (!described || !p.model.owner || external != locations.size())
    fail(Code::InvalidModel, "the package is damaged: a part is missing");
  return p;
}

void write_package(const std::filesystem::path& path, const Package& p) {
  std::string info = info_of(p);
  std::vector<std::string> code;
  for (const Package::Code& c : p.code) code.push_back(code_of(c));
  std::vector<std::pair<Kind, std::string_view>> parts = {{Kind::Info, info}, {Kind::Model, text_of(p.model.bytes)}};
  for (const auto& [location, file] : p.external) parts.emplace_back(Kind::External, text_of(file.bytes));
  for (const std::string& c : code) parts.emplace_back(Kind::Code, c);

  Header header{};
  std::memcpy(header.magic, kMagic.data(), sizeof header.magic);
  header.format = kFormat;
  header.sections = parts.size();
  uint64_t at = sizeof header + parts.size() * sizeof(Section);
  std::string table;
  for (const auto& [kind, bytes] : parts) {
    Section s{kind, aligned(at), bytes.size(), section_checksum(bytes)};
    table += bytes_of_object(s);
    at = s.offset + s.bytes;
  }
  header.file_bytes = at;
  header.checksum = section_checksum(table);

  NewFile file(path);
  file.write(bytes_of_object(header));
  file.write(table);
  at = sizeof header + table.size();
  for (const auto& [kind, bytes] : parts) {
    file.write(std::string(aligned(at) - at, '\0'));
    file.write(bytes);
    at = aligned(at) + bytes.size();
  }
  file.keep();
}

}  // namespace hf
