// Not in the device header: products whose result is the first factor of the next, as attention's are.
#include "kernel/device_header.h"

namespace hf::kernel {

const std::string_view kDeviceChain = R"hip(
// chained<T>, with its `unit`, mma<T> or like it: results d (rows of pixels, channels c) as the first factor of a second product, whose k are the
// channels of d, and what the lanes must know of each other for that. E: elements of a chunk.
//   STEPS                          steps of the second product that one d gives, CH / KF
//   weights(pix_frag, d, step)     d as the fragment of a step
//   VALUES_TURNED                  how the second product's other factor, values[c][n], lies in LDS: false: as rows of
//                                  n, row i being c = channel_of_row(i); true: as rows of c, row row_of_channel(n)
//   load_values<CHUNKS>(ch_frag, tile, n, first, step, lane)   CH columns n of the values of a step; `first` is the
//                                  c with which d begins (CHUNKS: of a row of the tile)
//   settle(d)                      before get() on results of the second product
//   ROWS, row(v)                   how many different pixels a lane has, and which of them vector v is at
//   SHARE, SHARE_END               the lanes that share a pixel differ in the bits of SHARE .. SHARE_END - 1
template <int T> struct chained;

// Turns a square of E x E elements: chunk i of the result has element i of each chunk.
DEV u32 halves(u32 a, u32 b, int which) { return which ? a >> 16 | (b & 0xffff0000u) : (a & 0xffffu) | b << 16; }
DEV u32 word_of(const u32x4& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }
template <int T> DEV u32x4 turned(const u32x4 (&v)[16 / sizeof(typename element<T>::type)], int i) {
  u32x4 r;
  if constexpr (T == HF_F32) {
    r.x = word_of(v[0], i); r.y = word_of(v[1], i); r.z = word_of(v[2], i); r.w = word_of(v[3], i);
  } else {
    r.x = halves(word_of(v[0], i / 2), word_of(v[1], i / 2), i & 1);
    r.y = halves(word_of(v[2], i / 2), word_of(v[3], i / 2), i & 1);
    r.z = halves(word_of(v[4], i / 2), word_of(v[5], i / 2), i & 1);
    r.w = halves(word_of(v[6], i / 2), word_of(v[7], i / 2), i & 1);
  }
  return r;
}

// The larger of two numbers; 1 / x with an error of one unit in the last place.
#if HF_CUDA
DEV float larger(float a, float b) { return fmaxf(a, b); }
DEV float reciprocal(float x) { float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
#elif HF_AMD
DEV float larger(float a, float b) { return __builtin_fmaxf(a, b); }
DEV float reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }
#else
DEV float larger(float a, float b) { return a > b ? a : b; }
DEV float reciprocal(float x) { return 1.f / x; }
#endif

template <int T, int PIXELS> struct chained_lanes {
  typedef lane_tile<T, PIXELS> unit;
  enum { E = 16 / sizeof(typename element<T>::type), STEPS = 32 / E, ROWS = PIXELS, SHARE = WAVE / 4, SHARE_END = WAVE };
  static constexpr bool VALUES_TURNED = true;
  DEV constexpr int row(int v) { return v; }
  DEV constexpr int row_of_channel(int c) { return c / 32 * 32 + (c >> 3 & 3) + (c >> 1 & 3) * 8 + (c & 1) * 4; }
  DEV void weights(typename unit::pix_frag& f, const typename unit::acc& d, int step) {
    int from = lane_id() % (WAVE / 4) + step * E / 8 * (WAVE / 4);
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
      u32x4 r;
      if constexpr (T == HF_F32) {
        const float* v = d.c[i] + step % 2 * 4;
        r.x = as_u32(v[0]); r.y = as_u32(v[1]); r.z = as_u32(v[2]); r.w = as_u32(v[3]);
      } else {
        r = pack8<T>(d.c[i]);
      }
      f.r[i].x = shuffle(r.x, from); f.r[i].y = shuffle(r.y, from);
      f.r[i].z = shuffle(r.z, from); f.r[i].w = shuffle(r.w, from);
    }
  }
  template <int CHUNKS> DEV void load_values(typename unit::ch_frag& f, const u8* tile, int n, int first, int step, int lane) {
    unit::template load_ch<CHUNKS>(f, tile, n, first / E + step, lane);
  }
  DEV void settle(typename unit::acc&) {}
};

#if HF_CUDA && __CUDA_ARCH__ >= 800
template <> struct chained<HF_F32> : chained_lanes<HF_F32, 4> {};
template <int T> struct chained {
  typedef mma<T> unit;
  enum { STEPS = 2, ROWS = 2, SHARE = 1, SHARE_END = 4 };
  static constexpr bool VALUES_TURNED = false;
  DEV constexpr int row(int v) { return v; }
  DEV void weights(typename unit::pix_frag& f, const typename unit::acc& d, int step) {
#pragma unroll
    for (int i = 0; i < 4; i++)
      f.r[i] = pack2<T>(d.c[2 * step + i / 2][i % 2 * 2], d.c[2 * step + i / 2][i % 2 * 2 + 1]);
  }
  template <int CHUNKS> DEV void load_values(typename unit::ch_frag& f, const u8* tile, int n, int first, int step, int lane) {
#pragma unroll
    for (int h = 0; h < 2; h++)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(f.r[4 * h]), "=r"(f.r[4 * h + 1]), "=r"(f.r[4 * h + 2]), "=r"(f.r[4 * h + 3])
                   : "r"(lds_address(lds_at<CHUNKS>(tile, first + step * 16, lane & 15, n / 8 + 2 * h + (lane >> 4)))) : "memory");
  }
  // The instruction left channel 8 j + 2 l + i of a pixel in lane l of four: a square of pairs to be turned.
  DEV void settle(typename unit::acc& d) {
    int lane = lane_id();
#pragma unroll
    for (int mask = 1; mask <= 2; mask *= 2)
#pragma unroll
      for (int j = 0; j < 4; j++)
        if (!(j & mask)) {
#pragma unroll
          for (int i = 0; i < 4; i++) {
            bool high = lane & mask;
            float a = d.c[j][i], b = d.c[j | mask][i], got = shuffle_xor(high ? a : b, mask);
            d.c[j][i] = high ? got : a;
            d.c[j | mask][i] = high ? b : got;
          }
        }
  }
};
#elif HF_AMD && (defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__))
template <int T> struct chained {
  typedef mma<T> unit;
  enum { E = 16 / sizeof(typename element<T>::type), STEPS = 16 / E, ROWS = 1, SHARE = 32, SHARE_END = 64 };
  static constexpr bool VALUES_TURNED = true;
  DEV constexpr int row(int) { return 0; }
  DEV constexpr int row_of_channel(int c) { return c / 32 * 32 + (c >> 4 & 1) * 4 + (c >> 2 & 3) * 8 + (c & 3); }
  // A lane has 16 consecutive channels: chunk `step` of them.
  DEV void weights(typename unit::pix_frag& f, const typename unit::acc& d, int step) {
    float v[8];
#pragma unroll
    for (int e = 0; e < E; e++) v[e] = d.c[step * E + e];
    if constexpr (T == HF_F32) f.r = __builtin_bit_cast(u32x4, make_f32x4(v[0], v[1], v[2], v[3]));
    else f.r = pack8<T>(v);
  }
  template <int CHUNKS> DEV void load_values(typename unit::ch_frag& f, const u8* tile, int n, int first, int step, int lane) {
    f.r = lds_load<CHUNKS>(tile, n, lane & 31, first / E + (lane >> 5) * STEPS + step);
  }
  DEV void settle(typename unit::acc&) {}
};
#elif HF_AMD && (defined(__GFX11__) || defined(__GFX12__))
template <> struct chained<HF_F32> : chained_lanes<HF_F32, 2> {};
template <int T> struct chained {
  typedef mma<T> unit;
  enum { STEPS = 1, ROWS = 1, SHARE = 16, SHARE_END = 32 };
  static constexpr bool VALUES_TURNED = true;
  DEV constexpr int row(int) { return 0; }
#if defined(__GFX11__)
  DEV constexpr int row_of_channel(int c) { return c / 16 * 16 + (c & 7) * 2 + (c >> 3 & 1); }
  // A half wave has 8 channels and wants all 16.
  DEV void weights(typename unit::pix_frag& f, const typename unit::acc& d, int) {
    float v[8];
#pragma unroll
    for (int e = 0; e < 8; e++) v[e] = d.c[e];
    u32x4 own = pack8<T>(v), other;
    int from = lane_id() ^ 16;
    other.x = shuffle(own.x, from); other.y = shuffle(own.y, from);
    other.z = shuffle(own.z, from); other.w = shuffle(own.w, from);
    bool high = lane_id() & 16;
    u32x4 a = high ? other : own, b = high ? own : other;
    f.r = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
  }
#else
  DEV constexpr int row_of_channel(int c) { return c; }
  DEV void weights(typename unit::pix_frag& f, const typename unit::acc& d, int) {
    float v[8];
#pragma unroll
    for (int e = 0; e < 8; e++) v[e] = d.c[e];
    f.r = pack8<T>(v);
  }
#endif
  template <int CHUNKS> DEV void load_values(typename unit::ch_frag& f, const u8* tile, int n, int first, int, int lane) {
    unit::template load_ch<CHUNKS>(f, tile, n, first / 8, lane);
  }
  DEV void settle(typename unit::acc&) {}
};
#else
template <int T> struct chained : chained_lanes<T, 128 / WAVE> {};
#endif
)hip";

}  // namespace hf::kernel
