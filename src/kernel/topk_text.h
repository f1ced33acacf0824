// The texts of the kernels that sort.
#pragma once

namespace hf::kernel {

/// Keys, which sort ascending; HF_SIZE of them in LDS; read and written as HF_FROM_KEYS and HF_TO_KEYS say.
extern const char* const kSortText;
/// topk_pieces: sorts HF_CHUNKS pieces of each row of HF_N and keeps the first HF_K of each.
extern const char* const kTopKPieces;
/// Of a sort of rows of HF_PADDED keys: sort_pieces begins, sort_step compares across pieces, sort_merge ends a round.
extern const char* const kSortPieces;
extern const char* const kSortStep;
extern const char* const kSortMerge;
/// topk_write: the first HF_K keys of each row of HF_PADDED as values and indices.
extern const char* const kTopKWrite;

}  // namespace hf::kernel
