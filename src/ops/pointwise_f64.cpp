// The elementwise rows computed in double.
#include "ops/pointwise_rows.h"

namespace hf::ops {

template <>
RowFn<double> row_function<double>(size_t row) {
  return math::rows::functions<double>[row];
}

}  // namespace hf::ops
