// Copies, a vector of the destination a thread.
#include "kernel/copy.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "kernel/cells.h"
#include "kernel/copy_parts.h"
#include "kernel/text.h"

namespace hf::kernel {

namespace parts {

std::string source_cell(const CopyProblem& p) { return p.in == p.out ? raw_cell(bits(p.in) / 8) : cell(p.in); }
std::string target_cell(const CopyProblem& p) { return p.in == p.out ? raw_cell(bits(p.out) / 8) : cell(p.out); }

int64_t count_of(const std::vector<CopyAxis>& axes) {
  int64_t count = 1;
  for (const CopyAxis& a : axes) count *= a.extent;
  return count;
}

bool is_wide(const CopyProblem& p, const std::vector<CopyAxis>& axes) {
  int64_t from = std::abs(p.from_offset), to = p.to_offset;
  for (const CopyAxis& a : axes) {
    from += (std::max(a.extent, a.valid) + std::abs(a.begin)) * std::max<int64_t>(std::abs(a.from), 1);
    to += a.extent * a.to;
  }
  return std::max(from, to) > INT32_MAX / 2;
}

int widest(int64_t bytes, std::initializer_list<int64_t> divided) {
  int64_t n = 16 / bytes;
  for (int64_t d : divided)
    while (d % n) n /= 2;
  return static_cast<int>(n);
}

}  // namespace parts

namespace {

using namespace parts;

// $(at) which position each axis is at, and where that is in source and destination; HF_OFFSET is int or i64, HF_COUNT
// unsigned. HF_WIDE    the source's elements lie as the destination's: one load HF_VEC     elements of one store
const char* const kSource = R"hip(
typedef HF_FROM in;
typedef HF_TO out;
$(axes)
KERNEL(HF_THREADS, 2) copy(const in::type* x, out::type* y, HF_COUNT count, i64 fill) {
  HF_COUNT rest = (HF_COUNT)block_x() * HF_THREADS + thread_x();
  if (rest >= count) return;
  HF_OFFSET from = 0, to = 0, s;
  bool inside = true;
  out::type none;
  set_bits(none, (u64)fill);
$(at)  alignas(16) out::type v[HF_VEC];
#if HF_WIDE
  if (inside) {
    alignas(16) in::type raw[HF_VEC];
    move_bytes<HF_VEC * sizeof(in::type)>(raw, x + from);
    for (int i = 0; i < HF_VEC; i++) v[i] = out::of(in::value(raw[i]));
  } else {
    for (int i = 0; i < HF_VEC; i++) v[i] = none;
  }
#else
#pragma unroll
  for (int i = 0; i < HF_VEC; i++) {
    bool here = inside & inner(at + i, s);
    v[i] = here ? out::of(in::value(x[from + s * HF_INNER])) : none;
  }
#endif
  move_bytes<HF_VEC * sizeof(out::type)>(y + to, v);
}
)hip";

// A number of the text: of the narrowest type, so that nothing is computed in 64 bits that fits 32.
std::string number(int64_t v) { return std::abs(v) <= INT32_MAX ? fmt::format("({})", v) : fmt::format("({}ll)", v); }
std::string extent(int64_t v) { return fmt::format("{}u{}", v, v <= UINT32_MAX ? "" : "ll"); }

// The function that says where position p of the destination is in the source, and whether it is there at all.
std::string axis_function(const std::string& name, const CopyAxis& a) {
  std::string body = a.begin ? fmt::format("s = p - {}; ", number(a.begin)) : "s = p; ";
  if (!is_padded(a)) return fmt::format("DEV bool {}(HF_OFFSET p, HF_OFFSET& s) {{ s = p; return true; }}\n", name);
  switch (a.beyond) {
    case CopyAxis::Beyond::Fill:
      // The destination's positions before the source's first make s negative.
      body += fmt::format("return {}s < {};", a.begin > 0 ? "s >= 0 && " : "", number(a.valid));
      break;
    case CopyAxis::Beyond::Edge:
      body += fmt::format("s = s < 0 ? 0 : s > {0} ? {0} : s; return true;", number(a.valid - 1));
      break;
    case CopyAxis::Beyond::Reflect: {
      int64_t period = a.valid > 1 ? 2 * (a.valid - 1) : 1;
      body += fmt::format("s %= {0}; if (s < 0) s += {0}; if (s > {1}) s = {0} - s; return true;", number(period),
                          number(a.valid - 1));
      break;
    }
    case CopyAxis::Beyond::Wrap:
      body += fmt::format("s %= {0}; if (s < 0) s += {0}; return true;", number(a.valid));
      break;
  }
  return fmt::format("DEV bool {}(HF_OFFSET p, HF_OFFSET& s) {{ {} }}\n", name, body);
}

// Whether `vec` elements along the innermost axis are one load.
bool one_load(const CopyProblem& p, const std::vector<CopyAxis>& axes, int vec) {
  const CopyAxis& inner = axes.back();
  if (inner.from != 1 || p.from_offset % vec) return false;
  for (size_t k = 0; k + 1 < axes.size(); ++k)
    if (axes[k].from % vec) return false;
  return !is_padded(inner) ||
         (inner.beyond == CopyAxis::Beyond::Fill && inner.begin % vec == 0 && inner.valid % vec == 0);
}

KernelSpec make(const CopyProblem& p, const std::vector<CopyAxis>& axes) {
  const CopyAxis& inner = axes.back();
  int64_t bytes = std::max(bits(p.in), bits(p.out)) / 8;
  int vec = inner.to == 1 ? widest(bytes, {inner.extent, p.to_offset}) : 1;
  for (size_t k = 0; k + 1 < axes.size(); ++k)
    while (axes[k].to % vec) vec /= 2;
  bool wide = one_load(p, axes, vec), filled = false;
  std::string at, functions = axis_function("inner", inner);
  for (size_t k = axes.size(); k-- > 0;) {
    const CopyAxis& a = axes[k];
    bool last = k + 1 == axes.size();
    filled |= is_padded(a);
    // The outermost takes what is left, so that its extent is not in the text.
    std::string steps = extent(last ? a.extent / vec : a.extent);
    at += fmt::format("  {}at = (HF_OFFSET)({}){};\n", last ? "HF_OFFSET " : "", k ? "rest % " + steps : "rest",
                      last ? fmt::format(" * {}", vec) : "");
    if (k) at += fmt::format("  rest /= {};\n", steps);
    at += fmt::format("  to += at * {};\n", number(a.to));
    if (last) at += "  const HF_OFFSET first = at;\n";
    if (last && !wide) continue;
    std::string function = last ? "inner" : fmt::format("axis_{}", k);
    if (!last) functions += axis_function(function, a);
    at += fmt::format("  inside &= {}(at, s);\n  from += s * {};\n", function, number(a.from));
  }
  std::string text = with_hole(with_hole(kSource, "$(axes)", functions), "$(at)", at);
  text = with_hole(text, "inner(at + i, s)", "inner(first + i, s)");
  int64_t count = count_of(axes) / vec, in_bytes = bits(p.in) / 8, out_bytes = bits(p.out) / 8;
  bool big = is_wide(p, axes);
  return {
      .family = "copy",
      .variant = wide ? "vector" : "gather",
      .source = std::string(kCells) + text,
      .entry = "copy",
      .defines = {"HF_FROM=" + source_cell(p), "HF_TO=" + target_cell(p), fmt::format("HF_THREADS={}", kCopyThreads),
                  fmt::format("HF_VEC={}", vec), fmt::format("HF_WIDE={}", int{wide}), "HF_INNER=" + number(inner.from),
                  fmt::format("HF_OFFSET={}", big ? "i64" : "int"), fmt::format("HF_COUNT={}", big ? "u64" : "u32")},
      .grid = {std::max(blocks_for(count, kCopyThreads), 1u), 1, 1},
      .block = {kCopyThreads, 1, 1},
      .arguments = {Argument::input(0, p.from_offset * in_bytes), Argument::output(0, p.to_offset * out_bytes),
                    big ? Argument::int64(count) : Argument::int32(count),
                    Argument::int64(static_cast<int64_t>(p.fill))}};
}

}  // namespace

std::vector<CopyAxis> collapsed(const std::vector<CopyAxis>& axes) {
  std::vector<CopyAxis> out;
  for (CopyAxis a : axes) {
    if (a.valid < 0) a.valid = a.extent;
    if (a.extent == 1 && !is_padded(a)) continue;
    CopyAxis* o = out.empty() ? nullptr : &out.back();
    bool one = o && !is_padded(a) && o->from == a.from * a.extent && o->to == a.to * a.extent &&
               (!is_padded(*o) || o->beyond == CopyAxis::Beyond::Fill);
    if (!one) {
      out.push_back(a);
      continue;
    }
    *o = {o->extent * a.extent, a.from, a.to, o->begin * a.extent, o->valid * a.extent, o->beyond};
  }
  if (out.empty()) out.push_back({.extent = 1, .from = 1, .to = 1, .valid = 1});
  return out;
}

Candidates copy(const CopyProblem& problem, const Target&) {
  std::vector<CopyAxis> axes = collapsed(problem.axes);
  if (!count_of(axes)) axes = {{.extent = 0, .from = 1, .to = 1, .valid = 0}};
  Candidates all = copy_tiles(problem, axes);
  all.push_back(make(problem, axes));
  return all;
}

}  // namespace hf::kernel
