#include "libtrain/core/error.hpp"

#include <gtest/gtest.h>

#include "libtrain/core/require.hpp"

namespace libtrain {
namespace {

TEST(Require, PassesWhenTheConditionHolds) { EXPECT_NO_THROW(require(true, "[a.b] x={}", 1)); }

TEST(Require, NamesTheValueItRefuses) {
  try {
    require(false, "[optim.adamw] lr={}, expected > 0; lower it like {}", -0.5, "1e-3");
    FAIL() << "no error";
  } catch (const InvalidOption& error) {
    EXPECT_STREQ(error.what(), "[optim.adamw] lr=-0.5, expected > 0; lower it like 1e-3");
  }
}

TEST(Require, ThrowsTheAskedType) {
  EXPECT_THROW(require<Unsupported>(false, "[a.b] x"), Unsupported);
  EXPECT_THROW(require<InternalError>(false, "[a.b] x"), InternalError);
}

TEST(Errors, AreAllCaughtAsError) {
  EXPECT_THROW(throw BadFile("m", "f", 3), Error);
  EXPECT_THROW(throw OutOfMemory("m", 1, 2), Error);
  EXPECT_THROW(throw DeviceError("m"), Error);
}

TEST(Errors, CarryWhatAProgramNeeds) {
  const BadFile bad("m", "model.safetensors", 17, FileFault::kOutput);
  EXPECT_EQ(bad.file(), "model.safetensors");
  EXPECT_EQ(bad.offset(), 17);
  EXPECT_EQ(bad.fault(), FileFault::kOutput);
  const OutOfMemory memory("m", 10, 5);
  EXPECT_EQ(memory.estimated_bytes(), 10);
  EXPECT_EQ(memory.available_bytes(), 5);
}

}  // namespace
}  // namespace libtrain
