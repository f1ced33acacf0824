// Errors: the codes, the exception, and the context frames that say where.
//
// Four cases, four tools, never mixed:
//   fail(Code, ...)    a user's or the machine's fault; throws Error
//   check(cond, ...)   a broken invariant of ours; throws Error with Code::Internal
//   Refusal{reason}    "try the next candidate"; returned, not thrown
//   log::warn          slow, odd or deprecated; never changes the result
#pragma once
#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace hf {

/// The one list of failure kinds. The numbers are those of the C API.
enum class Code {
  InvalidArgument = 1,
  InvalidModel = 2,
  Unsupported = 3,
  NotFound = 4,
  Io = 5,
  OutOfMemory = 6,
  Driver = 7,
  Compile = 8,
  Internal = 9,
};

/// The code as the words that begin a message: "invalid model".
std::string_view words(Code code);
/// The exit status of the command line program for this code: 2 to 9, and 70 for Internal.
int exit_status(Code code);

/// What every failure throws. what() is one line: "<words>: <where, outermost first>: <what is wrong>".
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& text) : std::runtime_error(text), code_(code) {}
  Code code() const { return code_; }

 private:
  Code code_;
};

/// Why a backend, kernel or pass cannot take something. Not an error: the next candidate is asked.
struct Refusal {
  std::string reason;
};

/// The text with a space for each control character: names come from files, and hold anything.
std::string printable(std::string_view text);

[[noreturn]] void fail_text(Code code, std::string text);

/// Throws Error. The text is one line, lower case, without a full stop, with values in single quotes; it says what is
/// wrong, got against wanted, and what to do. Where it happened comes from the Context frames in force.
template <class... Args>
[[noreturn]] void fail(Code code, fmt::format_string<Args...> text, Args&&... args) {
  fail_text(code, fmt::format(text, std::forward<Args>(args)...));
}

[[noreturn]] void check_failed(const char* what, const char* file, int line);

/// Throws Error with Code::Internal unless `ok`: the invariant `what` did not hold, which is a bug of ours.
inline void check(bool ok, const char* what, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!ok) check_failed(what, file, line);
}

/// One "where" of the calling thread, in force while it lives. The text is made only when an error is.
///     auto where = context([&] { return fmt::format("node {} '{}' ({})", index, name, op); });
class Context {
 public:
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  virtual std::string text() const = 0;
  const Context* outer() const { return outer_; }

 protected:
  Context();
  ~Context();

 private:
  const Context* outer_;
};

template <class F>
class ContextOf final : public Context {
 public:
  explicit ContextOf(F make) : make_(std::move(make)) {}
  std::string text() const override { return make_(); }

 private:
  F make_;
};

template <class F>
[[nodiscard]] ContextOf<F> context(F make) {
  return ContextOf<F>(std::move(make));
}

/// The frames in force on this thread, outermost first, joined by ": "; empty if there are none.
std::string where();

}  // namespace hf
