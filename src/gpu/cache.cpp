// The cache's files.
#define XXH_INLINE_ALL
#include "gpu/cache.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/settings.h"
#include "gpu/process.h"

namespace hf::gpu {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'h', 'f', 'c', 'o', 'd', 'e', '0', '1'};
struct Header {
  char magic[8];
  uint64_t payload_bytes;
  uint64_t checksum;  // XXH3 of key and payload: a renamed entry is foreign
};

uint64_t checksum(const std::string& key, std::string_view bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), XXH3_64bits(key.data(), key.size()));
}

fs::path file_of(const fs::path& folder, const std::string& key) { return folder / (key + ".hfco"); }

fs::path default_folder() {
  std::string given = setting("cache");
  if (given == "off") return {};
  if (!given.empty()) return given;
  if (std::string xdg = setting("cache_home"); !xdg.empty()) return fs::path(xdg) / "hipforge";
  if (std::string home = setting("home"); !home.empty()) return fs::path(home) / ".cache" / "hipforge";
  return {};
}

}  // namespace

std::string cache_key(const Source& source, std::string_view arch, std::string_view compiler) {
  // Lengths between the parts: no two lists of parts give the same text.
  std::string all;
  auto add = [&](std::string_view part) { all += fmt::format("{}:", part.size()).append(part); };
  add("hipforge code 1");
  add(arch);
  add(compiler);
  for (const std::string& entry : source.entries) add(entry);
  add("defines");
  for (const std::string& define : source.defines) add(define);
  add(source.text);
  XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

CodeCache::CodeCache(fs::path folder, int64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes), writable_(!folder_.empty()) {}

std::optional<std::string> CodeCache::find(const std::string& key) {
  if (folder_.empty()) return std::nullopt;
  fs::path path = file_of(folder_, key);
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  Header header{};
  struct stat info {};
  std::string bytes;
  bool ok = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= ssize_t{sizeof header} &&
            ::read(file, &header, sizeof header) == ssize_t{sizeof header} &&
            memcmp(header.magic, kMagic, sizeof kMagic) == 0 &&
            header.payload_bytes == static_cast<uint64_t>(info.st_size) - sizeof header;
  if (ok) {
    bytes.resize(header.payload_bytes);
    size_t done = 0;
    for (ssize_t n; done < bytes.size() && (n = ::read(file, bytes.data() + done, bytes.size() - done)) > 0;)
      done += static_cast<size_t>(n);
    ok = done == bytes.size() && header.checksum == checksum(key, bytes);
  }
  if (ok) futimens(file, nullptr);  // used now; of no matter if it may not be
  ::close(file);
  if (ok) return bytes;
  log::info("cache", "'{}' is damaged or foreign and will be made again", path.string());
  return std::nullopt;
}

void CodeCache::store(const std::string& key, std::string_view bytes) {
  if (!writable_) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return give_up(error.message());
  if (!write(key, bytes)) return give_up(strerror(errno));
  std::lock_guard lock(mutex_);
  if (used_bytes_ >= 0) used_bytes_ += static_cast<int64_t>(bytes.size() + sizeof(Header));
  if (used_bytes_ < 0 || used_bytes_ > most_bytes_) prune();
}

bool CodeCache::write(const std::string& key, std::string_view bytes) {
  std::string temporary = (folder_ / (key + ".XXXXXX")).string();
  int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return false;
  Header header{{}, bytes.size(), checksum(key, bytes)};
  memcpy(header.magic, kMagic, sizeof kMagic);
  std::string all(reinterpret_cast<const char*>(&header), sizeof header);
  all += bytes;
  bool ok = true;
  for (size_t done = 0; ok && done < all.size();) {
    ssize_t n = ::write(file, all.data() + done, all.size() - done);
    ok = n > 0 || (n < 0 && errno == EINTR);
    if (n > 0) done += static_cast<size_t>(n);
  }
  int why = errno;
  ok = ::close(file) == 0 && ok;
  ok = ok && ::rename(temporary.c_str(), file_of(folder_, key).c_str()) == 0;
  if (!ok) {
    ::unlink(temporary.c_str());
    errno = why;
  }
  return ok;
}

// Counts what is there; if it is too much, removes the oldest until a tenth is free. Leftovers of processes that were
// killed while writing go when they are a day old.
void CodeCache::prune() {
  struct Entry {
    fs::path path;
    int64_t bytes;
    fs::file_time_type used;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder_, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    std::error_code ignored;
    if (!it->is_regular_file(ignored)) continue;
    Entry entry{it->path(), static_cast<int64_t>(it->file_size(ignored)), it->last_write_time(ignored)};
    bool whole = entry.path.extension() == ".hfco";
    if (!whole && fs::file_time_type::clock::now() - entry.used > std::chrono::hours(24))
      fs::remove(entry.path, ignored);
    if (!whole || entry.bytes < 0) continue;
    total += entry.bytes;
    entries.push_back(std::move(entry));
  }
  if (total > most_bytes_) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    for (const Entry& entry : entries) {
      if (total <= most_bytes_ / 10 * 9) break;
      std::error_code ignored;
      if (fs::remove(entry.path, ignored)) total -= entry.bytes;
    }
  }
  used_bytes_ = total;
}

void CodeCache::give_up(const std::string& why) {
  if (writable_.exchange(false))
    log::warn("cache", "compiled kernels are not kept: '{}' cannot be written ({})", folder_.string(), why);
}

CodeCache& code_cache() {
  static CodeCache cache(default_folder(), setting_number("cache_size"));
  return cache;
}

}  // namespace hf::gpu
