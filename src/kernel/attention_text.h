// Inside the attention family: the kernel's text.
#pragma once

namespace hf::kernel {

// HF_BM, HF_BN         queries of a block; keys of a step
// HF_D, HF_VD          head sizes of q and k, and of v; HF_DP, HF_VDP: rounded up to whole tiles
// HF_STAGES            steps of keys and values in LDS: 2, or 1 where LDS is short
// HF_WHOLE             rows are aligned to 16 bytes and whole numbers of them; HF_OUT_WHOLE: those of out likewise
// HF_MASK              0 none, 1 added, 2 bytes; HF_MASK_TYPE; HF_MASK_ROWS: it differs between queries;
//                      HF_MASK_WHOLE: rows aligned for vectors of 8
// HF_CAUSAL, HF_WINDOW, HF_CAP   which of these there are; HF_LENGTHS: 0, or bytes of a length; HF_TOKENS_FIRST
// HF_FOLD              the scale is positive and only a factor of the exponent
extern const char* const kAttentionTypes;   // types, arguments, feeders
extern const char* const kAttentionScores;  // masks, softmax
extern const char* const kAttentionKernel;

}  // namespace hf::kernel
