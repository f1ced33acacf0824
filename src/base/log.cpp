// Log: filter, once-only warnings, sink.
#include "base/log.h"

#include <map>
#include <mutex>
#include <set>

#include "base/error.h"

namespace hf::log {
namespace {

struct State {
  std::mutex mutex;
  Sink sink;
  Level everywhere = Level::Warn;
  std::map<std::string, Level, std::less<>> channels;
  std::set<std::string> warned;
};

State& state() {
  static State s;
  return s;
}

Level level_from_name(std::string_view name) {
  constexpr std::string_view names[] = {"error", "warn", "info", "debug"};
  for (int i = 0; i < 4; ++i)
    if (names[i] == name) return static_cast<Level>(i);
  fail(Code::InvalidArgument, "log level '{}' is none of error, warn, info, debug", name);
}

}  // namespace

void set_sink(Sink sink) {
  std::lock_guard lock(state().mutex);
  state().sink = std::move(sink);
}

void set_filter(std::string_view filter) {
  Level everywhere = Level::Warn;
  std::map<std::string, Level, std::less<>> channels;
  while (!filter.empty()) {
    std::string_view part = filter.substr(0, filter.find(','));
    filter.remove_prefix(part.size() < filter.size() ? part.size() + 1 : part.size());
    size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      everywhere = level_from_name(part);
    else
      channels[std::string(part.substr(0, equals))] = level_from_name(part.substr(equals + 1));
  }
  std::lock_guard lock(state().mutex);
  state().everywhere = everywhere;
  state().channels = std::move(channels);
}

bool enabled(Level level, std::string_view channel) {
  std::lock_guard lock(state().mutex);
  if (!state().sink) return false;
  auto it = state().channels.find(channel);
  return level <= (it == state().channels.end() ? state().everywhere : it->second);
}

void write(Level level, std::string_view channel, const std::string& text) {
  std::lock_guard lock(state().mutex);
  if (level == Level::Warn && !state().warned.insert(std::string(channel) + text).second) return;
  if (state().sink) state().sink(level, channel, text);
}

}  // namespace hf::log
