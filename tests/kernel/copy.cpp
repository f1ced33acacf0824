// Copies of every kind against plain loops over all positions.
#include "kernel/copy.h"

#include <algorithm>

#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

using Axis = CopyAxis;
using Beyond = CopyAxis::Beyond;

// The source's position, or -1 for one that is filled.
int64_t source_of(const Axis& a, int64_t p) {
  int64_t n = a.valid < 0 ? a.extent : a.valid, s = p - a.begin;
  if (s >= 0 && s < n) return s;
  if (a.beyond == Beyond::Fill) return -1;
  if (a.beyond == Beyond::Edge) return s < 0 ? 0 : n - 1;
  if (a.beyond == Beyond::Wrap) return (s % n + n) % n;
  while (s < 0 || s >= n) s = n == 1 ? 0 : s < 0 ? -s : 2 * (n - 1) - s;
  return s;
}

int bytes_of(DType t) { return bits(t) / 8; }

class Copy : public KernelTest {
 protected:
  // Same types: bytes are counted upwards, so that each place is told from its neighbours.
  void check(const CopyProblem& p, size_t from_elements, size_t to_elements) {
    size_t n = static_cast<size_t>(bytes_of(p.in));
    Bytes from(from_elements * n), want(to_elements * n, 0xcd);
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i % 251 + i / 251 % 3);
    walk(p, [&](int64_t s, int64_t t) {
      for (size_t b = 0; b < n; ++b)
        want[static_cast<size_t>(t) * n + b] =
            s < 0 ? static_cast<uint8_t>(p.fill >> (8 * b)) : from[static_cast<size_t>(s) * n + b];
    });
    for (const KernelSpec& spec : copy(p, target())) {
      SCOPED_TRACE(spec.variant);
      variants.insert(variants.end(), spec.variant);
      ASSERT_EQ(run(spec, {from}, {want.size()})[0], want);
    }
  }

  template <class F>
  void walk(const CopyProblem& p, F f) {
    int64_t count = 1;
    for (const Axis& a : p.axes) count *= a.extent;
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i, s = p.from_offset, t = p.to_offset;
      bool inside = true;
      for (size_t k = p.axes.size(); k-- > 0;) {
        const Axis& a = p.axes[k];
        int64_t at = rest % a.extent, from = source_of(a, at);
        rest /= a.extent;
        t += at * a.to;
        s += from * a.from;
        inside &= from >= 0;
      }
      f(inside ? s : -1, t);
    }
  }

  bool seen(std::string_view variant) const {
    return std::find(variants.begin(), variants.end(), variant) != variants.end();
  }
  std::vector<std::string> variants;
};

constexpr DType kSizes[] = {DType::U8, DType::F16, DType::F32, DType::I64};

TEST_P(Copy, OfEverySize) {
  for (DType t : kSizes)
    for (int64_t n : {1, 2, 7, 16, 255, 256, 1024, 5003})
      check({.axes = {{.extent = n, .from = 1, .to = 1}}, .in = t, .out = t}, n, n);
}

TEST_P(Copy, Transposes) {
  // rows, columns, and what the rows of source and destination are padded to
  for (auto [r, c] : {std::pair<int64_t, int64_t>{64, 64}, {17, 100}, {200, 33}, {3, 5}, {128, 8}, {8, 200}})
    for (DType t : {r == 17 ? DType::U8 : DType::F16, r == 17 ? DType::I64 : DType::F32}) {
      SCOPED_TRACE(fmt::format("{} x {} of {} bytes", r, c, bytes_of(t)));
      check({.axes = {{.extent = c, .from = 1, .to = r}, {.extent = r, .from = c, .to = 1}}, .in = t, .out = t}, r * c,
            r * c);
    }
  EXPECT_TRUE(seen("tile") && seen("gather"));
}

TEST_P(Copy, TransposesInBatches) {
  // [2, 3, 20, 5, 24] to [3, 5, 2, 24, 20]
  check({.axes = {{.extent = 3, .from = 2400, .to = 4800},
                  {.extent = 5, .from = 24, .to = 960},
                  {.extent = 2, .from = 7200, .to = 480},
                  {.extent = 24, .from = 1, .to = 20},
                  {.extent = 20, .from = 120, .to = 1}},
         .in = DType::F16,
         .out = DType::F16},
        14400, 14400);
  // [40, 3, 30] to [30, 3, 40]: the source's contiguous axis becomes the outermost.
  check({.axes = {{.extent = 30, .from = 1, .to = 120},
                  {.extent = 3, .from = 30, .to = 40},
                  {.extent = 40, .from = 90, .to = 1}}},
        3600, 3600);
}

TEST_P(Copy, ChannelsLastAndBack) {
  for (int64_t c : {3, 20, 67})
    for (int64_t s : {6, 49, 200}) {
      int64_t pitch = (c + 7) / 8 * 8, n = 2;
      SCOPED_TRACE(fmt::format("{} channels, {} positions", c, s));
      for (DType t : {c == 20 ? DType::F32 : DType::F16}) {
        check({.axes = {{.extent = n, .from = c * s, .to = pitch * s},
                        {.extent = s, .from = 1, .to = pitch},
                        {.extent = pitch, .from = s, .to = 1, .valid = c}},
               .in = t,
               .out = t},
              n * c * s, n * pitch * s);
        check({.axes = {{.extent = n, .from = pitch * s, .to = c * s},
                        {.extent = c, .from = 1, .to = s},
                        {.extent = s, .from = pitch, .to = 1}},
               .in = t,
               .out = t},
              n * pitch * s, n * c * s);
      }
    }
  EXPECT_TRUE(seen("tile") && seen("gather"));
}

TEST_P(Copy, SlicesAndOffsets) {
  // [10, 12] from (9, 8) in steps of -2, -1 into the middle of [5, 40].
  check({.axes = {{.extent = 5, .from = -24, .to = 40}, {.extent = 8, .from = -1, .to = 1}},
         .from_offset = 9 * 12 + 8,
         .to_offset = 24},
        120, 200);
  // Rows of 16, every second, as vectors; then at an odd offset.
  for (int64_t offset : {0, 8, 3})
    check({.axes = {{.extent = 6, .from = 32, .to = 48}, {.extent = 8, .from = 1, .to = 1}},
           .in = DType::F16,
           .out = DType::F16,
           .from_offset = offset,
           .to_offset = offset},
          203, 300);
  EXPECT_TRUE(seen("vector"));
}

TEST_P(Copy, Broadcasts) {
  check({.axes = {{.extent = 5, .from = 0, .to = 48},
                  {.extent = 4, .from = 1, .to = 12},
                  {.extent = 12, .from = 0, .to = 1}}},
        4, 240);
  check({.axes = {{.extent = 6, .from = 0, .to = 16}, {.extent = 16, .from = 1, .to = 1}}}, 16, 96);
}

TEST_P(Copy, Paddings) {
  for (Beyond beyond : {Beyond::Fill, Beyond::Edge, Beyond::Reflect, Beyond::Wrap})
    for (DType t : kSizes) {
      SCOPED_TRACE(static_cast<int>(beyond));
      // [3, 7] by (2, 5) before, (1, 9) after; an axis of one position; a cut of two.
      check({.axes = {{.extent = 6, .from = 7, .to = 21, .begin = 2, .valid = 3, .beyond = beyond},
                      {.extent = 21, .from = 1, .to = 1, .begin = 5, .valid = 7, .beyond = beyond}},
             .in = t,
             .out = t,
             .fill = 0x0807060504030201},
            21, 126);
      check({.axes = {{.extent = 4, .from = 1, .to = 1, .begin = 2, .valid = 1, .beyond = beyond}}, .in = t, .out = t},
            1, 4);
      check({.axes = {{.extent = 3, .from = 1, .to = 1, .begin = -2, .valid = 7, .beyond = beyond}}, .in = t, .out = t},
            7, 3);
    }
  // Whole vectors of filling.
  check({.axes = {{.extent = 5, .from = 16, .to = 32}, {.extent = 32, .from = 1, .to = 1, .begin = 8, .valid = 16}},
         .fill = 0x3f800000},
        80, 160);
  EXPECT_TRUE(seen("vector"));
}

TEST_P(Copy, FillsWithoutASource) { check({.axes = {{.extent = 9, .from = 1, .to = 1, .valid = 0}}, .fill = 7}, 1, 9); }

TEST_P(Copy, ConvertsAsTheHostDoes) {
  std::vector<float> x = {0,     1,     -1,    2.5f,  -2.5f,  127.6f, 255,  256,      70000,     -70000,
                          1e-8f, 65519, 65520, 3e38f, -3e38f, 1e-40f, 0.1f, INFINITY, -INFINITY, NAN};
  while (x.size() < 40) x.push_back(static_cast<float>(x.size()) * 0.3f);
  for (Element in : {Element::F32, Element::F16, Element::BF16})
    for (Element out : {Element::F32, Element::F16, Element::BF16}) {
      auto dtype = [](Element e) {
        return e == Element::F32 ? DType::F32 : e == Element::F16 ? DType::F16 : DType::BF16;
      };
      std::vector<float> want = rounded(rounded(x, in), out);
      // As one piece, and as the columns of a tile.
      for (CopyProblem p :
           {CopyProblem{.axes = {{.extent = 40, .from = 1, .to = 1}}},
            CopyProblem{.axes = {{.extent = 20, .from = 2, .to = 1}, {.extent = 2, .from = 1, .to = 20}}}}) {
        p.in = dtype(in), p.out = dtype(out);
        for (const KernelSpec& spec : copy(p, target())) {
          auto got = floats(run(spec, {stored(x, in)}, {40 * static_cast<size_t>(size_of(out))})[0], out);
          walk(p, [&](int64_t s, int64_t t) {
            float w = want[static_cast<size_t>(s)], g = got[static_cast<size_t>(t)];
            EXPECT_TRUE(g == w || (std::isnan(g) && std::isnan(w)) || std::abs(w) < 1.2e-38f) << g << ", wanted " << w;
          });
        }
      }
    }
}

TEST_P(Copy, ConvertsIntegers) {
  const std::vector<int64_t> x = {0, 1, -1, 127, 128, -129, 255, 256, 65535, -70000, (int64_t{1} << 40) + 3};
  Bytes in(x.size() * 8);
  std::memcpy(in.data(), x.data(), in.size());
  CopyProblem p{.axes = {{.extent = static_cast<int64_t>(x.size()), .from = 1, .to = 1}}, .in = DType::I64};
  auto converted = [&](DType t) {
    p.out = t;
    return run(copy(p, target())[0], {in}, {x.size() * static_cast<size_t>(bytes_of(t))})[0];
  };
  auto i8 = converted(DType::I8), u8 = converted(DType::U8), b = converted(DType::Bool);
  auto f32 = floats(converted(DType::F32), Element::F32);
  Bytes i32 = converted(DType::I32);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(i8[i], static_cast<uint8_t>(x[i])) << x[i];
    EXPECT_EQ(u8[i], static_cast<uint8_t>(x[i])) << x[i];
    EXPECT_EQ(b[i], x[i] != 0) << x[i];
    EXPECT_EQ(f32[i], static_cast<float>(x[i])) << x[i];
    int32_t v;
    std::memcpy(&v, &i32[4 * i], 4);
    EXPECT_EQ(v, static_cast<int32_t>(x[i])) << x[i];
  }
}

HF_ON_ALL_DEVICES(Copy);

const OnEveryTarget kTargets{[](const Target& target) {
  Candidates all;
  for (DType t : kSizes) {
    std::vector<Axis> turned = {{.extent = 100, .from = 1, .to = 64}, {.extent = 64, .from = 100, .to = 1}};
    for (CopyProblem p : {CopyProblem{.axes = turned},
                          CopyProblem{.axes = {{.extent = 99, .from = 7, .to = 16},
                                               {.extent = 16, .from = 1, .to = 1, .begin = 3, .valid = 7}}}}) {
      p.in = p.out = t;
      Candidates some = copy(p, target);
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  return all;
}};

TEST(CopySpec, JoinsAxes) {
  auto one = collapsed({{.extent = 2, .from = 12, .to = 12},
                        {.extent = 1, .from = 9, .to = 9},
                        {.extent = 3, .from = 4, .to = 4},
                        {.extent = 4, .from = 1, .to = 1}});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].extent, 24);
  // A filled axis goes together with whole inner ones.
  auto filled =
      collapsed({{.extent = 5, .from = 4, .to = 4, .begin = 1, .valid = 3}, {.extent = 4, .from = 1, .to = 1}});
  ASSERT_EQ(filled.size(), 1u);
  EXPECT_EQ(filled[0].begin, 4);
  EXPECT_EQ(filled[0].valid, 12);
}

// One code object for every batch: only launch and arguments differ.
TEST(CopySpec, TextIsTheSameForEveryBatch) {
  auto at = [](int64_t n) {
    return copy({.axes = {{.extent = n, .from = 300, .to = 300},
                          {.extent = 20, .from = 1, .to = 15},
                          {.extent = 15, .from = 20, .to = 1}}},
                {});
  };
  Candidates b = at(7), c = at(64);
  ASSERT_EQ(b.size(), c.size());
  for (size_t i = 0; i < b.size(); ++i) {
    EXPECT_EQ(b[i].source, c[i].source);
    EXPECT_EQ(b[i].defines, c[i].defines);
  }
}

}  // namespace
}  // namespace hf::kernel
