// The texts of the kernels that reduce.
#pragma once

namespace hf::kernel {

/// `state`, what values are folded into, by HF_OP and HF_INTEGER; take() and put(), which read elements or states
/// (HF_FROM_STATES) and write either (HF_TO_STATES).
extern const char* const kReduceText;
/// reduce_rows: one lane or more to a row, after kRowsText. HF_COLS of each HF_PITCH elements, in HF_PIECES.
extern const char* const kReduceRows;
/// reduce_columns: HF_TX vectors along HF_INNER and HF_TY rows of HF_REDUCED at a time, in HF_PIECES.
extern const char* const kReduceColumns;

}  // namespace hf::kernel
