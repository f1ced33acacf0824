// Elements of any type that kernels move: how each is stored, and what it is as a number. Text that goes in front of
// the sources that need it.
#pragma once
#include <string>
#include <string_view>

#include "base/dtype.h"

namespace hf::kernel {

/// Structures cell_f32, cell_i8, ...: `type` as stored, `value()` the number (float or i64), `of()` a number stored as
/// ops' Cast does: reals to integers toward zero, NaN to 0, integers by their low bits, anything but zero to true. And
/// raw_1 ... raw_8, which are only moved; set_bits(); move_bytes<N>().
extern const std::string_view kCells;

/// Bool, integers but U64, F16, BF16 and F32 are numbers to kernels.
bool has_cell(DType dtype);
/// "cell_f32"; Internal where has_cell() is false.
std::string cell(DType dtype);
/// "raw_4", for elements of 1, 2, 4 and 8 bytes.
std::string raw_cell(int bytes);
bool is_real_cell(DType dtype);

}  // namespace hf::kernel
