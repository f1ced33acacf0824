// Vectors of channels, as text.
#include "kernel/channel_vectors.h"

#include "kernel/vector_epilogue.h"

namespace hf::kernel {

const std::string_view kPieces = R"hip(
template <int N, int T> struct pieces {
  typedef typename element<T>::type type;
  enum { BYTES = N * sizeof(type), WORDS = BYTES / 4 };
  struct raw { u32 w[WORDS + !WORDS]; };  // as stored, where that is whole words
  DEV raw fetch(const type* p) {
    raw r;
    if constexpr (BYTES == 4) {
      r.w[0] = *(const u32*)p;
    } else if constexpr (BYTES == 8) {
      u64 all = *(const u64*)p;
      r.w[0] = (u32)all;
      r.w[1] = (u32)(all >> 32);
    } else {
#pragma unroll
      for (int i = 0; i < WORDS / 4; i++) {
        u32x4 four = ((const u32x4*)p)[i];
        r.w[4 * i] = four.x;
        r.w[4 * i + 1] = four.y;
        r.w[4 * i + 2] = four.z;
        r.w[4 * i + 3] = four.w;
      }
    }
    return r;
  }
  DEV void unpack(const raw& r, u32 keep, float (&v)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) {
      if constexpr (sizeof(type) == 4) v[i] = as_float(r.w[i] & keep);
      else v[i] = element<T>::load((u16)((r.w[i / 2] & keep) >> i % 2 * 16));
    }
  }
  DEV void load(const type* p, u32 keep, float (&v)[N]) {
    if constexpr (BYTES < 4) v[0] = keep ? element<T>::load(*p) : 0.f;
    else unpack(fetch(p), keep, v);
  }
  DEV void store(type* p, const float (&v)[N]) {
    if constexpr (BYTES < 4) {
      *p = element<T>::store(v[0]);
    } else {
      u32 w[WORDS];
#pragma unroll
      for (int i = 0; i < WORDS; i++) {
        if constexpr (sizeof(type) == 4) w[i] = as_u32(v[i]);
        else w[i] = element<T>::store(v[2 * i]) | (u32)element<T>::store(v[2 * i + 1]) << 16;
      }
      if constexpr (BYTES == 4) {
        *(u32*)p = w[0];
      } else if constexpr (BYTES == 8) {
        *(u64*)p = w[0] | (u64)w[1] << 32;
      } else {
#pragma unroll
        for (int i = 0; i < WORDS / 4; i++)
          store_global((u32x4*)p + i, u32x4{w[4 * i], w[4 * i + 1], w[4 * i + 2], w[4 * i + 3]});
      }
    }
  }
};
)hip";

namespace {
const char* const kFinish = R"hip(
template <int N> DEV void finish(float (&v)[N], typename element<HF_OUT>::type* y, i64 row, int c HF_EPI_PARAMS) {
  if (HF_YP == HF_COLUMNS || c < HF_COLUMNS) epilogue(v, row, c, HF_COLUMNS HF_EPI_ARGS);
  if constexpr (HF_YP != HF_COLUMNS) {
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = c + i < HF_COLUMNS ? v[i] : 0.f;
  }
  pieces<N, HF_OUT>::store(y + row * HF_YP + c, v);
}
)hip";
}  // namespace

std::string channel_vectors(const Epilogue& epilogue) {
  return vector_epilogue_text(epilogue) + std::string(kPieces) + kFinish;
}

}  // namespace hf::kernel
