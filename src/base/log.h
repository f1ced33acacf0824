// Log: where the library speaks. It never prints by itself; without a sink, warnings and errors go nowhere.
#pragma once
#include <fmt/core.h>

#include <functional>
#include <string>
#include <string_view>

namespace hf::log {

enum class Level { Error, Warn, Info, Debug };

/// Takes each message that passes the filter. May be called from any thread; calls are serialised.
using Sink = std::function<void(Level, std::string_view channel, std::string_view text)>;
void set_sink(Sink sink);
/// "debug", or "passes=debug,cpu=info": the least severe level a channel lets through. Default: warn everywhere.
/// Throws InvalidArgument for an unknown level.
void set_filter(std::string_view filter);
bool enabled(Level level, std::string_view channel);
void write(Level level, std::string_view channel, const std::string& text);

template <class... Args>
void info(std::string_view channel, fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::Info, channel)) write(Level::Info, channel, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void debug(std::string_view channel, fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::Debug, channel)) write(Level::Debug, channel, fmt::format(text, std::forward<Args>(args)...));
}
/// A warning; the same text on the same channel is written once a process.
template <class... Args>
void warn(std::string_view channel, fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::Warn, channel)) write(Level::Warn, channel, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace hf::log
