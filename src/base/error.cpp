// Errors: message assembly and the thread's stack of context frames.
#include "base/error.h"

#include <array>
#include <vector>

namespace hf {
namespace {

struct CodeRow {
  std::string_view words;
  int exit_status;
};

constexpr std::array<CodeRow, 10> kCodes = {{
    {"ok", 0},
    {"invalid argument", 2},
    {"invalid model", 3},
    {"unsupported", 4},
    {"not found", 5},
    {"i/o error", 6},
    {"out of memory", 7},
    {"driver error", 8},
    {"compile error", 9},
    {"internal error", 70},
}};

thread_local const Context* innermost = nullptr;

}  // namespace

std::string_view words(Code code) { return kCodes[static_cast<size_t>(code)].words; }
int exit_status(Code code) { return kCodes[static_cast<size_t>(code)].exit_status; }

Context::Context() : outer_(innermost) { innermost = this; }
Context::~Context() { innermost = outer_; }

std::string where() {
  std::vector<const Context*> frames;
  for (const Context* c = innermost; c; c = c->outer()) frames.push_back(c);
  std::string text, last;
  for (auto it = frames.rbegin(); it != frames.rend(); ++it) {
    std::string frame = (*it)->text();
    if (frame == last) continue;  // two layers that name the same place
    text += (text.empty() ? "" : ": ") + frame;
    last = std::move(frame);
  }
  return text;
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
  return out;
}

void fail_text(Code code, std::string text) {
  std::string place = where();
  // Names come from files: they may be long, and hold anything.
  constexpr size_t kMost = 2000;
  if (place.size() > kMost) place.replace(kMost / 2, place.size() - kMost, " ... ");
  if (text.size() > 2 * kMost) text.replace(kMost, text.size() - 2 * kMost, " ... ");
  std::string line = fmt::format("{}: {}{}{}", words(code), place, place.empty() ? "" : ": ", text);
  throw Error(code, printable(line));
}

void check_failed(const char* what, const char* file, int line) {
  fail(Code::Internal, "{} ({}:{}); this is a bug in hipforge, please report it with the model", what, file, line);
}

}  // namespace hf
