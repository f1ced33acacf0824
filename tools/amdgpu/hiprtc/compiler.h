// Runs the compiler on one program in a folder of its own.
#pragma once
#include <string>
#include <vector>

namespace amdgpu {

struct SourceFile {
  std::string name, text;
};

struct Compilation {
  std::string name, source;
  std::vector<SourceFile> headers;
  std::vector<std::string> options, expressions;  // expressions: names whose symbols are wanted
};

enum class Outcome { Ok, BadInput, BadOption, CompileError, Internal };

struct Compiled {
  Outcome outcome = Outcome::Internal;
  std::string log, code;
  std::vector<std::string> symbols;  // of the expressions; empty where there is none
};

Compiled compile(const Compilation& c);

}  // namespace amdgpu
