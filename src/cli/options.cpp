// Parsing of a command's options with CLI11.
#include "cli/options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/log.h"

namespace hf::cli {
namespace {

bool positional(const Option& o) { return o.name[0] != '-'; }

// The default, for help; empty if there is none to speak of.
std::string default_text(const Option& o) {
  return std::visit(
      [&](auto* target) -> std::string {
        using T = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<T, std::string>)
          return *target;
        else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
          return static_cast<double>(*target) < o.least ? "" : fmt::format("{}", *target);
        else
          return "";
      },
      o.target);
}

std::string help_text(const Option& o) {
  std::string text = default_text(o);
  return text.empty() ? o.help : fmt::format("{} [{}]", o.help, text);
}

CLI::Option* add(CLI::App& app, const Option& o, bool* target) { return app.add_flag(o.name, *target, help_text(o)); }
CLI::Option* add(CLI::App& app, const Option& o, std::string* target) {
  return app.add_option(o.name, *target, help_text(o));
}

// A number is decimal and all of the text. CLI11's own conversion takes 010 for 8 and a number too large for the
// largest.
template <class Number>
requires std::is_arithmetic_v<Number>
bool read_number(const std::string& text, Number& value) {
  const char* last = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last && std::isfinite(static_cast<double>(value));
}

template <class Number>
requires std::is_arithmetic_v<Number> CLI::Option* add(CLI::App& app, const Option& o, Number* target) {
  auto in_range = [least = o.least](const std::string& text) {
    Number value{};
    if (read_number(text, value) && static_cast<double>(value) >= least) return std::string();
    const char* kind = std::is_integral_v<Number> ? "a whole number" : "a number";
    return fmt::format("'{}' should be {} of at least {}", text, kind, least);
  };
  auto set = [target](const std::string& text) { read_number(text, *target); };
  return app.add_option_function<std::string>(o.name, set, help_text(o))->check(in_range);
}

template <class Item>
CLI::Option* add(CLI::App& app, const Option& o, std::vector<Item>* target) {
  CLI::Option* option = app.add_option(o.name, *target, help_text(o));
  // An option takes one value a use, or it would swallow the MODEL behind it.
  if (!positional(o)) option->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return option;
}

void add(CLI::App& app, const Option& o) {
  CLI::Option* option = std::visit([&](auto* target) { return add(app, o, target); }, o.target);
  if (!o.value.empty()) option->option_text(o.value);
  if (positional(o)) option->required();
  if (o.choices.empty()) return;
  option->check([choices = o.choices](const std::string& text) {
    std::string all;
    for (const std::string& c : choices) {
      if (c == text) return std::string();
      all += (all.empty() ? "" : ", ") + c;
    }
    return fmt::format("'{}' is none of {}", text, all);
  });
}

}  // namespace

void usage_error(const std::string& command, const std::string& text) {
  fail(Code::InvalidArgument, "{}; see 'hipforge {} --help'", text, command);
}

bool parse(const Command& command, std::vector<Option> options, const Arguments& arguments, const std::string& notes) {
  CLI::App app(command.summary + ".", "hipforge " + command.name);
  std::string log_filter;
  options.push_back(
      {"--log", "LEVEL", &log_filter, "what to report on stderr: error, warn, info, debug, or CHANNEL=LEVEL,..."});
  for (const Option& o : options) add(app, o);
  app.footer(notes);
  app.get_formatter()->column_width(32);
  for (const char* word : {"TEXT", "REQUIRED"}) app.get_formatter()->label(word, "");
  try {
    app.parse(Arguments(arguments.rbegin(), arguments.rend()));  // it wants them from the last to the first
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return false;
  } catch (const CLI::ParseError& e) {
    std::string text = e.what();
    if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
      text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    usage_error(command.name, text);
  }
  if (!log_filter.empty()) log::set_filter(log_filter);
  return true;
}

}  // namespace hf::cli
