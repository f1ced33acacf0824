// hiprtc*: run-time compilation by a clang++ process. Independent of the emulator.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "hiprtc/compiler.h"

#ifdef AMDGPU_ABI_CHECK
#include <hip/hiprtc.h>
#else
typedef int hiprtcResult;
#endif

#define HIPRTC_EXPORT extern "C" __attribute__((visibility("default")))

struct _hiprtcProgram {
  amdgpu::Compilation input;
  std::string log, code;
  std::map<std::string, std::string> lowered;  // by expression
  bool compiled = false;
};
typedef _hiprtcProgram* hiprtcProgram;

namespace {

enum Result : int {
  Success = 0,
  InvalidInput = 3,
  InvalidProgram = 4,
  InvalidOption = 5,
  CompilationError = 6,
  NoNamesAfterCompilation = 8,
  NoLoweredNamesBeforeCompilation = 9,
  InvalidNameExpression = 10,
  InternalError = 11
};

struct Named {
  int result;
  const char* name;
};
constexpr Named kNames[] = {
    {0, "HIPRTC_SUCCESS"},
    {1, "HIPRTC_ERROR_OUT_OF_MEMORY"},
    {2, "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE"},
    {3, "HIPRTC_ERROR_INVALID_INPUT"},
    {4, "HIPRTC_ERROR_INVALID_PROGRAM"},
    {5, "HIPRTC_ERROR_INVALID_OPTION"},
    {6, "HIPRTC_ERROR_COMPILATION"},
    {7, "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE"},
    {8, "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION"},
    {9, "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION"},
    {10, "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID"},
    {11, "HIPRTC_ERROR_INTERNAL_ERROR"},
    {100, "HIPRTC_ERROR_LINKING"},
};

// Never destroyed: programs may be compiled from static destructors.
std::mutex& lock() {
  static auto& m = *new std::mutex;
  return m;
}
std::set<hiprtcProgram>& programs() {
  static auto& all = *new std::set<hiprtcProgram>;
  return all;
}
bool is_program(hiprtcProgram p) { return p && programs().count(p); }

// The frame of the functions: the lock, and the check of what the caller passes.
template <class F>
hiprtcResult with_program(hiprtcProgram p, const void* argument, F body) {
  std::lock_guard<std::mutex> guard(lock());
  if (!argument) return static_cast<hiprtcResult>(InvalidInput);
  if (!is_program(p)) return static_cast<hiprtcResult>(InvalidProgram);
  return static_cast<hiprtcResult>(body());
}

// AMDEMU_FAIL=hiprtcCompileProgram:n makes the n-th compilation fail.
bool failure_is_injected() {
  static int calls = 0;
  constexpr char kFunction[] = "hiprtcCompileProgram:";
  const char* setting = getenv("AMDEMU_FAIL");
  const char* found = setting ? strstr(setting, kFunction) : nullptr;
  calls++;
  return found && atoi(found + strlen(kFunction)) == calls;
}

Result result_of(amdgpu::Outcome outcome) {
  switch (outcome) {
    case amdgpu::Outcome::Ok: return Success;
    case amdgpu::Outcome::BadInput: return InvalidInput;
    case amdgpu::Outcome::BadOption: return InvalidOption;
    case amdgpu::Outcome::CompileError: return CompilationError;
    case amdgpu::Outcome::Internal: break;
  }
  return InternalError;
}

Result run_compiler(_hiprtcProgram& p, int count, const char** options) {
  p.log.clear();
  p.code.clear();
  p.lowered.clear();
  p.input.options.clear();
  if (failure_is_injected()) {
    p.log = "injected failure\n";
    return CompilationError;
  }
  for (int i = 0; i < count; i++) {
    const std::string option = options[i] ? options[i] : "";
    const size_t first = option.find_first_not_of(" \t");
    if (first != std::string::npos) p.input.options.push_back(option.substr(first));
  }
  amdgpu::Compiled result = amdgpu::compile(p.input);
  p.compiled = result.outcome == amdgpu::Outcome::Ok || result.outcome == amdgpu::Outcome::CompileError;
  p.log = std::move(result.log);
  p.code = std::move(result.code);
  for (size_t i = 0; i < result.symbols.size(); i++)
    if (!result.symbols[i].empty()) p.lowered[p.input.expressions[i]] = result.symbols[i];
  return result_of(result.outcome);
}

}  // namespace

HIPRTC_EXPORT const char* hiprtcGetErrorString(hiprtcResult result) {
  for (const Named& n : kNames)
    if (n.result == static_cast<int>(result)) return n.name;
  return "HIPRTC_ERROR_UNKNOWN";
}

HIPRTC_EXPORT hiprtcResult hiprtcVersion(int* major, int* minor) {
  if (!major || !minor) return static_cast<hiprtcResult>(InvalidInput);
  *major = 9;
  *minor = 0;
  return static_cast<hiprtcResult>(Success);
}

HIPRTC_EXPORT hiprtcResult hiprtcCreateProgram(hiprtcProgram* program, const char* source, const char* name, int count,
                                               const char** headers, const char** include_names) {
  if (!program || !source || count < 0 || (count && (!headers || !include_names)))
    return static_cast<hiprtcResult>(InvalidInput);
  auto* p = new _hiprtcProgram;
  p->input.source = source;
  p->input.name = name && *name ? name : "CompileSource";
  for (int i = 0; i < count; i++) p->input.headers.push_back({include_names[i], headers[i]});
  std::lock_guard<std::mutex> guard(lock());
  programs().insert(p);
  *program = p;
  return static_cast<hiprtcResult>(Success);
}

HIPRTC_EXPORT hiprtcResult hiprtcDestroyProgram(hiprtcProgram* program) {
  std::lock_guard<std::mutex> guard(lock());
  if (!program || !is_program(*program)) return static_cast<hiprtcResult>(InvalidInput);
  programs().erase(*program);
  delete *program;
  *program = nullptr;
  return static_cast<hiprtcResult>(Success);
}

HIPRTC_EXPORT hiprtcResult hiprtcAddNameExpression(hiprtcProgram p, const char* expression) {
  return with_program(p, expression, [&] {
    if (p->compiled) return NoNamesAfterCompilation;
    p->input.expressions.push_back(expression);
    return Success;
  });
}

HIPRTC_EXPORT hiprtcResult hiprtcGetLoweredName(hiprtcProgram p, const char* expression, const char** lowered) {
  return with_program(p, expression, [&] {
    if (!lowered) return InvalidInput;
    if (!p->compiled) return NoLoweredNamesBeforeCompilation;
    auto it = p->lowered.find(expression);
    if (it == p->lowered.end()) return InvalidNameExpression;
    *lowered = it->second.c_str();
    return Success;
  });
}

HIPRTC_EXPORT hiprtcResult hiprtcCompileProgram(hiprtcProgram p, int count, const char** options) {
  const bool valid = count >= 0 && (count == 0 || options);
  return with_program(p, valid ? p : nullptr, [&] { return run_compiler(*p, count, options); });
}

HIPRTC_EXPORT hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram p, size_t* bytes) {
  return with_program(p, bytes, [&] {
    *bytes = p->log.empty() ? 0 : p->log.size() + 1;
    return Success;
  });
}
HIPRTC_EXPORT hiprtcResult hiprtcGetProgramLog(hiprtcProgram p, char* log) {
  return with_program(p, log, [&] {
    if (!p->log.empty()) memcpy(log, p->log.c_str(), p->log.size() + 1);
    return Success;
  });
}
HIPRTC_EXPORT hiprtcResult hiprtcGetCodeSize(hiprtcProgram p, size_t* bytes) {
  return with_program(p, bytes, [&] {
    *bytes = p->code.size();
    return p->code.empty() ? InvalidProgram : Success;
  });
}
HIPRTC_EXPORT hiprtcResult hiprtcGetCode(hiprtcProgram p, char* code) {
  return with_program(p, code, [&] {
    memcpy(code, p->code.data(), p->code.size());
    return p->code.empty() ? InvalidProgram : Success;
  });
}

// There is no bitcode.
HIPRTC_EXPORT hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram, size_t*) {
  return static_cast<hiprtcResult>(InvalidProgram);
}
HIPRTC_EXPORT hiprtcResult hiprtcGetBitcode(hiprtcProgram, char*) { return static_cast<hiprtcResult>(InvalidProgram); }
