#include "libtrain/sim/places.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "libtrain/core/text.hpp"
#include "libtrain/sim/races.hpp"
#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

// Exported, so that a frame can be named; each ends with a call that is no tail call.
#define EXPORTED extern "C" __attribute__((visibility("default"), noinline))

EXPORTED void sim_test_writes(const at::Tensor& x) {
  x.fill_(1.0);
  asm volatile("");
}

EXPORTED void sim_test_reads(const at::Tensor& x) {
  x.relu();
  asm volatile("");
}

EXPORTED at::Tensor sim_test_forward(const at::Tensor& x) {
  at::Tensor y = at::mm(x, x);
  asm volatile("");
  return y;
}

namespace libtrain::sim {
namespace {

using test::default_stream;
using test::wait;

class Places : public testing::Test {
 protected:
  Places() {
    test::start_afresh();
    record_places(true);
  }
  ~Places() override {
    record_places(false);
    test::start_afresh();
  }

  /// Of frames: one is of this function. Without optimization LibTorch's inline functions are
  /// frames of the program too.
  static auto has(const std::string& function) {
    return testing::Contains(
        testing::ContainsRegex(fill("^{} in .*sim_test\\(\\+0x[0-9a-f]+\\)$", function)));
  }

  const c10::Stream side = test::new_stream();
  const at::Tensor x = at::ones({4, 4}, device());
};

TEST_F(Places, OfBothUsesAreNamed) {
  wait(side, default_stream());
  sim_test_writes(x);
  {
    const c10::StreamGuard guard(side);
    sim_test_reads(x);
  }
  wait(default_stream(), side);
  ASSERT_EQ(1u, races().size());
  const Race race = races()[0];
  EXPECT_THAT(race.earlier.frames, has("sim_test_writes"));
  EXPECT_THAT(race.later.frames, has("sim_test_reads"));
  EXPECT_THAT(race.text(), testing::AllOf(testing::HasSubstr("make the reader wait"),
                                          testing::HasSubstr("\naten::fill_ on stream 0 of sim:0:"),
                                          testing::HasSubstr("\n  sim_test_writes in "),
                                          testing::HasSubstr("\n  sim_test_reads in ")));
}

TEST_F(Places, OfBackwardAreThoseOfItsForward) {
  const at::Tensor weight = at::ones({4, 4}, device()).requires_grad_();
  const at::Tensor loss = sim_test_forward(weight).sum();
  wait(side, default_stream());
  {
    const c10::StreamGuard guard(side);
    const at::AutoDispatchBelowADInplaceOrView no_version_check;
    weight.detach().fill_(2.0);
  }
  loss.backward();
  wait(default_stream(), side);
  ASSERT_FALSE(races().empty());
  const Race race = races()[0];
  EXPECT_EQ("aten::mm", race.later.op);
  ASSERT_FALSE(race.later.frames.empty());
  EXPECT_EQ("in backward (MmBackward0) of", race.later.frames[0]);
  EXPECT_THAT(race.later.frames, has("sim_test_forward"));
}

TEST_F(Places, OfAFreeAreNamed) {
  at::Tensor y = at::ones({4}, device());
  wait(side, default_stream());
  {
    const c10::StreamGuard guard(side);
    sim_test_reads(y);
  }
  y.reset();
  wait(default_stream(), side);
  ASSERT_EQ(1u, races().size());
  EXPECT_THAT(races()[0].earlier.frames, has("sim_test_reads"));
  EXPECT_FALSE(races()[0].later.frames.empty());
}

TEST_F(Places, AreNotKeptUnlessAskedFor) {
  record_places(false);
  wait(side, default_stream());
  sim_test_writes(x);
  {
    const c10::StreamGuard guard(side);
    sim_test_reads(x);
  }
  wait(default_stream(), side);
  ASSERT_EQ(1u, races().size());
  EXPECT_THAT(races()[0].earlier.frames, testing::IsEmpty());
  EXPECT_EQ(std::string::npos, races()[0].text().find('\n'));
}

}  // namespace
}  // namespace libtrain::sim
