// The matrix tile of the device header: one wave multiplies one tile, in every element type and length of LDS rows.
#include "base/error.h"
#include "kernel/device_header.h"
#include "kernel/matrix_tile.h"
#include "kernel/run.h"

namespace hf::kernel {
namespace {

// a [PIX][HF_K], b [CH][HF_K] of up to 64 x 32; y [64][32], where rows and columns beyond the tile are not written.
const char* const kSource = R"hip(
typedef mma<HF_T> m;
typedef element<HF_T>::type type;
constexpr int VEC = element<HF_T>::VEC, CHUNKS = HF_CHUNKS, STEPS = HF_K / VEC / CHUNKS;
KERNEL(64, 1) product(const type* a, const type* b, float* y, int* shape) {
  LDS(lds, HF_LDS);
  int lane = lane_id(), wave = thread_x() / WAVE;
  u8* tile_b = lds + 64 * CHUNKS * 16;
  m::acc d;
#pragma unroll
  for (int v = 0; v < m::VEC; v++)
#pragma unroll
    for (int e = 0; e < 8; e++) m::set(d, v, e, (float)e);
  copier<1, false> copy;
  for (int step = 0; step < STEPS; step++) {
    barrier();
    for (int i = thread_x(); i < (64 + 32) * CHUNKS; i += 64) {
      int row = i / CHUNKS, chunk = i % CHUNKS, at = (step * CHUNKS + chunk) * VEC;
      u8* to = row < 64 ? lds + lds_offset<CHUNKS>(row, chunk) : tile_b + lds_offset<CHUNKS>(row - 64, chunk);
      int channel = (row - 64) / m::CH * m::CH + m::channel_of_row((row - 64) % m::CH);
      copy.fetch(0, to, row < 64 ? a + row * HF_K + at : b + channel * HF_K + at, true);
      copies_commit();
      copy.land(0, to);
    }
    copies_wait<0>();
    barrier();
    if (wave == 0) {
#pragma unroll
      for (int k = 0; k < CHUNKS; k += m::KC) {
        m::pix_frag p;
        m::ch_frag c;
        m::load_pix<CHUNKS>(p, lds, 0, k, lane);
        m::load_ch<CHUNKS>(c, tile_b, 0, k, lane);
        m::run(d, p, c);
      }
    }
  }
  if (wave != 0) return;
  if (lane == 0) shape[0] = m::PIX, shape[1] = m::CH, shape[2] = m::KC, shape[3] = m::KF;
#pragma unroll
  for (int v = 0; v < m::VEC; v++)
#pragma unroll
    for (int e = 0; e < 8; e++) y[m::pix_of(lane, v) * 32 + m::ch_of(lane, v) + e] = m::get(d, v, e);
}
)hip";

class Matrix : public KernelTest {
 protected:
  void check(Element type, int chunks) {
    SCOPED_TRACE(fmt::format("type {} chunks {}", static_cast<int>(type), chunks));
    const size_t k = static_cast<size_t>(2 * chunks * vector_of(type));
    auto a = rounded(random_floats(64 * k, -1, 1, 1), type), b = rounded(random_floats(32 * k, -1, 1, 2), type);
    KernelSpec spec{.family = "matrix",
                    .variant = "test",
                    .source = kSource,
                    .entry = "product",
                    .defines = {fmt::format("HF_T={}", static_cast<int>(type)), fmt::format("HF_K={}", k),
                                fmt::format("HF_CHUNKS={}", chunks), fmt::format("HF_LDS={}", 96 * chunks * 16)},
                    .block = {64, 1, 1},
                    .lds_bytes = static_cast<uint32_t>(96 * chunks * 16),
                    .arguments = {Argument::input(0), Argument::input(1), Argument::output(0), Argument::output(1)}};
    auto out = run(spec, {stored(a, type), stored(b, type)}, {64 * 32 * 4, 16});
    std::vector<float> y = floats(out[0], Element::F32);
    int32_t shape[4];
    std::memcpy(shape, out[1].data(), 16);
    MatrixTile tile = matrix_tile(target(), type);  // what the host believes
    EXPECT_EQ(shape[0], tile.pixels);
    EXPECT_EQ(shape[1], tile.channels);
    EXPECT_EQ(shape[2], tile.chunks);
    EXPECT_EQ(shape[3], shape[2] * vector_of(type));
    for (size_t p = 0; p < static_cast<size_t>(shape[0]); ++p)
      for (size_t c = 0; c < static_cast<size_t>(shape[1]); ++c) {
        double want = static_cast<double>(c % 8), sum = want;
        for (size_t i = 0; i < k; ++i)
          want += double{a[p * k + i]} * b[c * k + i], sum += std::abs(a[p * k + i] * b[c * k + i]);
        ASSERT_NEAR(y[p * 32 + c], want, sum * 1e-6) << p << ", " << c;
      }
  }
};

TEST_P(Matrix, MultipliesInEveryType) {
  for (Element type : {Element::F32, Element::F16, Element::BF16})
    for (int chunks : {4, 8, 12, 16}) check(type, chunks);
}

HF_ON_ALL_DEVICES(Matrix);

TEST(WgmmaText, NamesEveryRegisterOnce) {
  std::string text = wgmma_text(Element::BF16, 24);
  EXPECT_NE(text.find("m64n24k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11}, %12, %13, 1"),
            text.npos);
  EXPECT_NE(text.find("\"+f\"(d[11]) : \"l\"(a)"), text.npos);
  EXPECT_THROW(wgmma_text(Element::F32, 64), Error);
}

}  // namespace
}  // namespace hf::kernel
