// What a command accepts, as a table. CLI11 stands behind it, in options.cpp alone: it is slow to compile.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace hf::cli {

using Arguments = std::vector<std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Where a value goes. A bool is a flag without value; a list collects the values of each use; pairs take two words.
using Target = std::variant<bool*, int*, uint64_t*, double*, std::string*, std::vector<std::string>*, Pairs*>;

struct Option {
  std::string name;   // "--top", "-h,--help"; "MODEL" for a positional, which is required
  std::string value;  // what help calls the value: "K"
  Target target;
  std::string help;
  double least = 0;                  // the smallest number allowed
  std::vector<std::string> choices;  // the words allowed; empty: any
};

struct Command {
  std::string name;     // "run"
  std::string summary;  // one line
  int (*run)(const Command& command, const Arguments& arguments) = nullptr;
};

/// Fills the targets of `options`, and handles --log, which every command has. Prints the help, which ends with
/// `notes`, and returns false if it was asked for. Throws InvalidArgument for anything that the table does not allow,
/// ending with where help is.
bool parse(const Command& command, std::vector<Option> options, const Arguments& arguments,
           const std::string& notes = "");

/// Throws InvalidArgument with a pointer to the command's help.
[[noreturn]] void usage_error(const std::string& command, const std::string& text);

}  // namespace hf::cli
