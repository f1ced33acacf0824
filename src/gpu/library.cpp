// dlopen over a search list.
#include "gpu/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <string.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/settings.h"

namespace hf::gpu {
namespace {

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), GLOB_ONLYDIR, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  // "rocm" itself first, which is the installation in force; then newest first, 10 after 9.
  std::sort(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
    if (a.size() != b.size() && (a.find('-') == a.npos) != (b.find('-') == b.npos)) return a.find('-') == a.npos;
    return strverscmp(a.c_str(), b.c_str()) > 0;
  });
  return paths;
}

std::string path_of(void* handle, const std::string& asked) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0]) return map->l_name;
  return asked;
}

}  // namespace

std::vector<std::string> folders(const LibrarySearch& search) {
  std::vector<std::string> all;
  auto add = [&](const std::string& folder) {
    std::error_code ignored;
    if (std::filesystem::is_directory(folder, ignored) && std::find(all.begin(), all.end(), folder) == all.end())
      all.push_back(folder);
  };
  std::string given = search.setting.empty() ? "" : setting(search.setting);
  for (size_t at = 0; at < given.size();) {
    size_t end = std::min(given.find(':', at), given.size());
    std::string folder = given.substr(at, end - at);
    at = end + 1;
    if (folder.empty()) continue;
    for (std::string_view below : search.below) add(below.empty() ? folder : folder + "/" + std::string(below));
  }
  for (std::string_view pattern : search.patterns)
    for (const std::string& folder : matches(std::string(pattern))) add(folder);
  return all;
}

Library Library::open(const LibrarySearch& search) {
  std::string tried;
  auto attempt = [&](const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char* error = dlerror();
      tried += fmt::format("{}'{}'", tried.empty() ? "" : ", ", path);
      // That a name is not there is what most of them say: only other reasons are worth the space.
      if (error && !std::strstr(error, "No such file")) tried += fmt::format(" ({})", error);
    }
    return handle;
  };
  for (const std::string& folder : folders(search))
    for (std::string_view name : search.names) {
      std::string path = folder + "/" + std::string(name);
      std::error_code ignored;
      if (!std::filesystem::exists(path, ignored)) continue;
      if (void* handle = attempt(path)) return {handle, path};
    }
  for (std::string_view name : search.names)
    if (void* handle = attempt(std::string(name))) return {handle, path_of(handle, std::string(name))};
  std::string looked;
  for (const std::string& folder : folders(search)) looked += fmt::format("{}'{}'", looked.empty() ? "" : ", ", folder);
  fail(Code::NotFound, "{} was not found; folders looked into: {}; tried: {}", search.what,
       looked.empty() ? "none exist" : looked, tried);
}

void* Library::find(const char* symbol) const { return dlsym(handle_, symbol); }

void* Library::get(const char* symbol) const {
  if (void* found = find(symbol)) return found;
  fail(Code::Driver, "'{}' has no '{}'", path_, symbol);
}

}  // namespace hf::gpu
