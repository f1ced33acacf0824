// Colour, progress bars, the log on stderr.
#include "cli/terminal.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/log.h"
#include "base/settings.h"

namespace hf::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kQuiet = std::chrono::seconds(2);
constexpr auto kEvery = std::chrono::milliseconds(100);
constexpr int kBarWidth = 30;
constexpr std::string_view kCodes[] = {"31", "32", "33", "1"};
constexpr std::string_view kLevels[] = {"error", "warning", "info", "debug"};

bool shows_colour(int descriptor) {
  return ::isatty(descriptor) && setting("no_color").empty() && setting("terminal") != "dumb";
}

std::string painted(Colour colour, std::string_view text) {
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<size_t>(colour)], text);
}

}  // namespace

std::string coloured(Colour colour, std::string_view text) {
  static const bool colours = shows_colour(STDOUT_FILENO);
  return colours ? painted(colour, text) : std::string(text);
}

void say(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void log_to_stderr() {
  log::set_sink(
      [colours = shows_colour(STDERR_FILENO)](log::Level level, std::string_view channel, std::string_view text) {
        std::string word(kLevels[static_cast<size_t>(level)]);
        if (colours && level <= log::Level::Warn)
          word = painted(level == log::Level::Warn ? Colour::Yellow : Colour::Red, word);
        say(fmt::format("hipforge: {}: {}: {}\n", word, channel, text));
      });
}

Progress::Progress(std::string what)
    : what_(std::move(what)),
      start_(Clock::now()),
      last_(start_),
      terminal_(::isatty(STDERR_FILENO) && setting("terminal") != "dumb") {}

Progress::~Progress() { clear(); }

void Progress::show(double done, std::string_view note) {
  Clock::time_point now = Clock::now();
  if (!terminal_ || now - start_ < kQuiet || now - last_ < kEvery) return;
  last_ = now;
  done = std::clamp(done, 0.0, 1.0);
  int full = static_cast<int>(done * kBarWidth);
  say(fmt::format("\r{} [{}{}] {:3.0f}%  {:.40}\x1b[K", what_, std::string(static_cast<size_t>(full), '#'),
                  std::string(static_cast<size_t>(kBarWidth - full), '.'), done * 100, note));
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  say("\r\x1b[K");
  drawn_ = false;
}

}  // namespace hf::cli
