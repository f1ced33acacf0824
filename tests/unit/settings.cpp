// Settings from the environment.
#include "base/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"

namespace hf {

TEST(Settings, ReadNumbersWithSuffixesAndRefuseOthers) {
  unsetenv("HIPFORGE_MAX_TENSOR");
  EXPECT_EQ(setting_number("max_tensor"), int64_t{64} << 30);
  setenv("HIPFORGE_MAX_TENSOR", "3K", 1);
  EXPECT_EQ(setting_number("max_tensor"), 3072);
  for (const char* bad : {"-1", "x", "1T", "99999999999999999999", "9223372036854775807K"}) {
    setenv("HIPFORGE_MAX_TENSOR", bad, 1);
    EXPECT_THROW(setting_number("max_tensor"), Error) << bad;
  }
  setenv("HIPFORGE_MAX_TENSOR", "", 1);
  EXPECT_EQ(setting_number("max_tensor"), int64_t{64} << 30);
  unsetenv("HIPFORGE_MAX_TENSOR");
}

}  // namespace hf
