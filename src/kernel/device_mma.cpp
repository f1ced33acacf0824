// The device header: one wave's matrix tile on every architecture.
#include "kernel/device_header.h"

namespace hf::kernel {

const std::string_view kDeviceMatrix = R"hip(
// mma<T>, T = HF_F32, HF_F16, HF_BF16: a wave's tile of PIX "pixels" (rows of A) by CH "channels" (columns of the
// result), d[pixel][channel] += sum over k of a[pixel][k] * b[channel][k], in float. Both factors lie in LDS as tiles
// (lds_offset) with k along the rows; one step takes KC chunks of each, that is KF elements of k.
//   pix_frag, ch_frag      the factors' fragments of one lane
//   acc                    the lane's results
//   load_pix<CHUNKS>(frag, tile, row, chunk, lane)   PIX rows from `row` (a multiple of 8), KC chunks from `chunk`
//   load_ch<CHUNKS>(...)                             CH rows, likewise
//   run(acc, pix, ch)
// A lane's results are VEC vectors of 8 channels: get(acc, v, e), set(acc, v, e, x), v < VEC, e < 8, which are at pixel
// pix_of(lane, v) and channels ch_of(lane, v) + e of the tile. For that the rows of the tile b must hold the channels in
// permuted order: its row i is channel i / CH * CH + channel_of_row(i % CH). All indices must be constants after
// unrolling. FRAGMENT_SETS: how many steps' fragments are worth keeping at once. PIX: 16, 32 or 64; CH: 16 or 32; KC: 1
// or 2 (kernel/matrix_tile.h). All lanes of the wave take part in loads and runs.
template <int T> struct mma;

// Without a matrix unit: each lane has ROWS pixels x 8 channels, WAVE / 4 lanes along the pixels and 4 along the
// channels.
template <int T, int ROWS> struct lane_tile {
  static constexpr int LANES = WAVE / 4, PIX = LANES * ROWS, CH = 32, KC = 1, KF = 16 / sizeof(typename element<T>::type);
  static constexpr int VEC = ROWS, FRAGMENT_SETS = 1;
  struct pix_frag { u32x4 r[ROWS]; };
  struct ch_frag { u32x4 r[8]; };
  struct acc { float c[ROWS][8]; };
  template <int CHUNKS> DEV void load_pix(pix_frag& f, const u8* tile, int row, int chunk, int lane) {
#pragma unroll
    for (int i = 0; i < ROWS; i++) f.r[i] = lds_load<CHUNKS>(tile, row + LANES * i, lane % LANES, chunk);
  }
  template <int CHUNKS> DEV void load_ch(ch_frag& f, const u8* tile, int row, int chunk, int lane) {
#pragma unroll
    for (int j = 0; j < 8; j++) f.r[j] = lds_load<CHUNKS>(tile, row + j / 2 * 8, j % 2 * 4 + lane / LANES, chunk);
  }
  DEV float two(u32 a, u32 b, float c) {
#if defined(__gfx906__) || defined(__gfx1011__) || defined(__gfx1012__) || defined(__gfx1030__) || \
    defined(__gfx1031__) || defined(__gfx1032__) || defined(__gfx1033__) || defined(__gfx1034__) || \
    defined(__gfx1035__) || defined(__gfx1036__)
    if constexpr (T == HF_F16) {
      typedef _Float16 h2 __attribute__((ext_vector_type(2)));
      return __builtin_amdgcn_fdot2(__builtin_bit_cast(h2, a), __builtin_bit_cast(h2, b), c, false);
    }
#endif
    float a0, a1, b0, b1;
    unpack2<T>(a, a0, a1);
    unpack2<T>(b, b0, b1);
    return fma_f32(a1, b1, fma_f32(a0, b0, c));
  }
  DEV float dot(u32x4 a, u32x4 b, float c) {
    if constexpr (T == HF_F32) {
      c = fma_f32(as_float(a.x), as_float(b.x), c);
      c = fma_f32(as_float(a.y), as_float(b.y), c);
      c = fma_f32(as_float(a.z), as_float(b.z), c);
      return fma_f32(as_float(a.w), as_float(b.w), c);
    } else {
      return two(a.w, b.w, two(a.z, b.z, two(a.y, b.y, two(a.x, b.x, c))));
    }
  }
  DEV void run(acc& d, const pix_frag& a, const ch_frag& b) {
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
      for (int j = 0; j < 8; j++) d.c[i][j] = dot(a.r[i], b.r[j], d.c[i][j]);
  }
  DEV int pix_of(int lane, int v) { return lane % LANES + LANES * v; }
  DEV int ch_of(int lane, int) { return lane / LANES * 8; }
  DEV float get(const acc& d, int v, int e) { return d.c[v][e]; }
  DEV void set(acc& d, int v, int e, float x) { d.c[v][e] = x; }
  DEV constexpr int channel_of_row(int r) { return (r & 3) * 8 + (r >> 3) * 2 + (r >> 2 & 1); }
};
)hip";

const std::string_view kDeviceMatrixCuda = R"hip(
#if HF_CUDA && __CUDA_ARCH__ >= 800
// m16n8k16: pixels are the rows, channels the columns.
template <int T> struct mma {
  static constexpr int PIX = 16, CH = 32, KC = 2, KF = 16, VEC = 2, FRAGMENT_SETS = 2;
  struct pix_frag { u32 r[4]; };
  struct ch_frag { u32 r[8]; };
  struct acc { float c[4][4]; };
  DEV void matrix(u32* r, const u8* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(lds_address(p)) : "memory");
  }
  template <int CHUNKS> DEV void load_pix(pix_frag& f, const u8* tile, int row, int chunk, int lane) {
    matrix(f.r, lds_at<CHUNKS>(tile, row, lane & 15, chunk + (lane >> 4)));
  }
  template <int CHUNKS> DEV void load_ch(ch_frag& f, const u8* tile, int row, int chunk, int lane) {
#pragma unroll
    for (int h = 0; h < 2; h++)
      matrix(f.r + 4 * h, lds_at<CHUNKS>(tile, row + 16 * h, (lane & 7) + ((lane >> 4) << 3), chunk + ((lane >> 3) & 1)));
  }
  DEV void one(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    if constexpr (T == HF_F16)
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    else
      asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
  DEV void run(acc& d, const pix_frag& a, const ch_frag& b) {
#pragma unroll
    for (int j = 0; j < 4; j++) one(d.c[j], a.r, b.r[2 * j], b.r[2 * j + 1]);
  }
  DEV int pix_of(int lane, int v) { return (lane >> 2) + 8 * v; }
  DEV int ch_of(int lane, int) { return (lane & 3) * 8; }
  DEV float get(const acc& d, int v, int e) { return d.c[e >> 1][2 * v + (e & 1)]; }
  DEV void set(acc& d, int v, int e, float x) { d.c[e >> 1][2 * v + (e & 1)] = x; }
  DEV constexpr int channel_of_row(int r) { return ((r >> 1) & 3) * 8 + (r >> 3) * 2 + (r & 1); }
};
template <> struct mma<HF_F32> : lane_tile<HF_F32, 8> {};
#elif !HF_AMD
template <int T> struct mma : lane_tile<T, 4> {};
#endif
)hip";

// The order of k within a step is free as long as both factors have the same: a 16-byte read feeds several
// instructions.
const std::string_view kDeviceMatrixAmd = R"hip(
#if HF_AMD
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef _Float16 h8 __attribute__((ext_vector_type(8)));
typedef _Float16 h16 __attribute__((ext_vector_type(16)));
typedef short s2 __attribute__((ext_vector_type(2)));
typedef short s4 __attribute__((ext_vector_type(4)));
typedef short s8 __attribute__((ext_vector_type(8)));
typedef short s16 __attribute__((ext_vector_type(16)));
typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x8 __attribute__((ext_vector_type(8)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
// 32x32 MFMA: channels are the rows.
template <int T> struct mma {
  static constexpr int PIX = 32, CH = 32, KC = 2, KF = T == HF_F32 ? 8 : 16, VEC = 2, FRAGMENT_SETS = 1;
  struct pix_frag { u32x4 r; };
  struct ch_frag { u32x4 r; };
  struct acc { f32x16 c; };
  template <int CHUNKS> DEV void load_pix(pix_frag& f, const u8* tile, int row, int chunk, int lane) {
    f.r = lds_load<CHUNKS>(tile, row, lane & 31, chunk + (lane >> 5));
  }
  template <int CHUNKS> DEV void load_ch(ch_frag& f, const u8* tile, int row, int chunk, int lane) {
    f.r = lds_load<CHUNKS>(tile, row, lane & 31, chunk + (lane >> 5));
  }
  DEV void two(f32x16& c, u32 b, u32 a) {
#if defined(__gfx908__)
    c = __builtin_amdgcn_mfma_f32_32x32x4bf16(__builtin_bit_cast(s2, b), __builtin_bit_cast(s2, a), c, 0, 0, 0);
#endif
  }
  DEV void four(f32x16& c, u32x2 b, u32x2 a) {
    if constexpr (T == HF_F16) {
      c = __builtin_amdgcn_mfma_f32_32x32x8f16(__builtin_bit_cast(h4, b), __builtin_bit_cast(h4, a), c, 0, 0, 0);
    } else {
#if defined(__gfx908__)
      two(c, b.x, a.x);
      two(c, b.y, a.y);
#else
      c = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(__builtin_bit_cast(s4, b), __builtin_bit_cast(s4, a), c, 0, 0, 0);
#endif
    }
  }
  DEV void run(acc& d, const pix_frag& a, const ch_frag& b) {
    if constexpr (T == HF_F32) {
      f32x4 x = __builtin_bit_cast(f32x4, a.r), y = __builtin_bit_cast(f32x4, b.r);
      d.c = __builtin_amdgcn_mfma_f32_32x32x2f32(y.x, x.x, d.c, 0, 0, 0);
      d.c = __builtin_amdgcn_mfma_f32_32x32x2f32(y.y, x.y, d.c, 0, 0, 0);
      d.c = __builtin_amdgcn_mfma_f32_32x32x2f32(y.z, x.z, d.c, 0, 0, 0);
      d.c = __builtin_amdgcn_mfma_f32_32x32x2f32(y.w, x.w, d.c, 0, 0, 0);
    } else {
      four(d.c, b.r.xy, a.r.xy);
      four(d.c, b.r.zw, a.r.zw);
    }
  }
  DEV int pix_of(int lane, int) { return lane & 31; }
  DEV int ch_of(int lane, int v) { return (lane >> 5) * 16 + v * 8; }
  DEV float get(const acc& d, int v, int e) { return d.c[v * 8 + e]; }
  DEV void set(acc& d, int v, int e, float x) { d.c[v * 8 + e] = x; }
  DEV constexpr int channel_of_row(int r) { return ((r >> 2) & 1) * 16 + (r >> 3) * 4 + (r & 3); }
};
#elif defined(__GFX11__)
// WMMA 16x16x16: channels are the rows, and both half waves hold the whole fragment.
template <int T> struct mma {
  static constexpr int PIX = 16, CH = 16, KC = 2, KF = 16, VEC = 1, FRAGMENT_SETS = 1;
  struct pix_frag { u32x8 r; };
  struct ch_frag { u32x8 r; };
  struct acc { f32x8 c; };
  template <int CHUNKS> DEV u32x8 load(const u8* tile, int row, int lane, int chunk) {
    u32x4 a = lds_load<CHUNKS>(tile, row, lane & 15, chunk), b = lds_load<CHUNKS>(tile, row, lane & 15, chunk + 1);
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
  }
  template <int CHUNKS> DEV void load_pix(pix_frag& f, const u8* tile, int row, int chunk, int lane) { f.r = load<CHUNKS>(tile, row, lane, chunk); }
  template <int CHUNKS> DEV void load_ch(ch_frag& f, const u8* tile, int row, int chunk, int lane) { f.r = load<CHUNKS>(tile, row, lane, chunk); }
  DEV void run(acc& d, const pix_frag& a, const ch_frag& b) {
    if constexpr (T == HF_F16)
      d.c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(__builtin_bit_cast(h16, b.r), __builtin_bit_cast(h16, a.r), d.c);
    else
      d.c = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(__builtin_bit_cast(s16, b.r), __builtin_bit_cast(s16, a.r), d.c);
  }
  DEV int pix_of(int lane, int) { return lane & 15; }
  DEV int ch_of(int lane, int) { return (lane >> 4) * 8; }
  DEV float get(const acc& d, int, int e) { return d.c[e]; }
  DEV void set(acc& d, int, int e, float x) { d.c[e] = x; }
  DEV constexpr int channel_of_row(int r) { return (r & 1) * 8 + (r >> 1); }
};
template <> struct mma<HF_F32> : lane_tile<HF_F32, 8> {};
#elif defined(__GFX12__)
// WMMA of gfx12: 8 elements a lane, rows come out in the channels' order.
template <int T> struct mma {
  static constexpr int PIX = 16, CH = 16, KC = 2, KF = 16, VEC = 1, FRAGMENT_SETS = 1;
  struct pix_frag { u32x4 r; };
  struct ch_frag { u32x4 r; };
  struct acc { f32x8 c; };
  template <int CHUNKS> DEV void load_pix(pix_frag& f, const u8* tile, int row, int chunk, int lane) {
    f.r = lds_load<CHUNKS>(tile, row, lane & 15, chunk + (lane >> 4));
  }
  template <int CHUNKS> DEV void load_ch(ch_frag& f, const u8* tile, int row, int chunk, int lane) {
    f.r = lds_load<CHUNKS>(tile, row, lane & 15, chunk + (lane >> 4));
  }
  DEV void run(acc& d, const pix_frag& a, const ch_frag& b) {
    if constexpr (T == HF_F16)
      d.c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(__builtin_bit_cast(h8, b.r), __builtin_bit_cast(h8, a.r), d.c);
    else
      d.c = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(__builtin_bit_cast(s8, b.r), __builtin_bit_cast(s8, a.r), d.c);
  }
  DEV int pix_of(int lane, int) { return lane & 15; }
  DEV int ch_of(int lane, int) { return (lane >> 4) * 8; }
  DEV float get(const acc& d, int, int e) { return d.c[e]; }
  DEV void set(acc& d, int, int e, float x) { d.c[e] = x; }
  DEV constexpr int channel_of_row(int r) { return r; }
};
template <> struct mma<HF_F32> : lane_tile<HF_F32, 8> {};
#else
template <int T> struct mma : lane_tile<T, 4> {};
#endif
#endif
)hip";

}  // namespace hf::kernel
