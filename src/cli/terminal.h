// What depends on where the output goes: colour, progress bars, and the log on stderr.
#pragma once
#include <chrono>
#include <string>
#include <string_view>

namespace hf::cli {

enum class Colour { Red, Green, Yellow, Bold };

/// The text in a colour if stdout is a terminal that shows it and NO_COLOR is not set; else the text.
std::string coloured(Colour colour, std::string_view text);

/// Writes to stderr; a stderr that is closed or full changes nothing.
void say(std::string_view text);

/// Shows the library's messages on stderr, one line each: "hipforge: warning: load: ...".
void log_to_stderr();

/// A bar on stderr while something takes long. Silent unless stderr is a terminal, and for the first two seconds.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// `done` from 0 to 1; `note` says what is at hand.
  void show(double done, std::string_view note = "");
  /// Takes the bar away, before a line is printed.
  void clear();

 private:
  std::string what_;
  std::chrono::steady_clock::time_point start_, last_;
  bool terminal_, drawn_ = false;
};

}  // namespace hf::cli
