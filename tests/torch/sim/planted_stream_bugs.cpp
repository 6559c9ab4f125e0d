#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "planted_bugs.hpp"
#include "sim_support.hpp"

namespace libtrain::sim::test {

std::vector<PlantedBug> bugs_between_streams() {
  using enum Hazard;
  constexpr auto kSim = c10::DeviceType::PrivateUse1;
  return {
      {"read_without_a_wait",
       [](const Setting& s) {
         at::Tensor x = s.ones({4}), y = s.ones({4});
         wait(s.side, s.first);
         x.fill_(2.0);
         if (s.is_right) wait(s.side, s.first);
         const c10::StreamGuard guard(s.side);
         y.copy_(x);
         wait(s.first, s.side);
       },
       UnorderedUses{kReadAfterWrite, {"aten::fill_", "first"}, {"aten::copy_", "side"}}},
      {"write_after_read",
       [](const Setting& s) {
         at::Tensor x = s.ones({4}), y = s.ones({4});
         wait(s.side, s.first);
         {
           const c10::StreamGuard guard(s.side);
           y.copy_(x);
         }
         if (s.is_right) wait(s.first, s.side);
         x.neg_();
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterRead, {"aten::copy_", "side"}, {"aten::neg_", "first"}}},
      {"two_writers",
       [](const Setting& s) {
         at::Tensor x = s.ones({4});
         wait(s.side, s.first);
         x.fill_(1);
         if (s.is_right) wait(s.side, s.first);
         const c10::StreamGuard guard(s.side);
         x.zero_();
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterWrite, {"aten::fill_", "first"}, {"aten::zero_", "side"}}},
      {"overlapping_views",
       [](const Setting& s) {
         const at::Tensor x = s.ones({8, 2});
         wait(s.side, s.first);
         x.narrow(0, 0, 5).mul_(2.0);
         const c10::StreamGuard guard(s.side);
         x.narrow(0, s.is_right ? 5 : 4, 3).add_(1.0);
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterWrite, {"aten::mul", "first"}, {"aten::add_", "side"}}},
      {"event_recorded_too_early",
       [](const Setting& s) {
         at::Tensor x = s.ones({4});
         c10::Event event(kSim);
         if (!s.is_right) event.record(s.first);
         x.fill_(1.0);
         if (s.is_right) event.record(s.first);
         event.block(s.side);
         const c10::StreamGuard guard(s.side);
         x.neg_();
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterWrite, {"aten::fill_", "first"}, {"aten::neg_", "side"}}},
      {"event_of_the_wrong_stream",
       [](const Setting& s) {
         at::Tensor x = s.ones({4});
         wait(s.side, s.first);
         x.fill_(1.0);
         c10::Event event(kSim);
         event.record(s.is_right ? s.first : s.third);
         event.block(s.side);
         const c10::StreamGuard guard(s.side);
         x.neg_();
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterWrite, {"aten::fill_", "first"}, {"aten::neg_", "side"}}},
      {"wait_before_the_event_is_recorded",
       [](const Setting& s) {
         at::Tensor x = s.ones({4});
         wait(s.side, s.first);
         c10::Event event(kSim);
         x.fill_(1.0);
         if (s.is_right) event.record(s.first);
         event.block(s.side);
         event.record(s.first);
         const c10::StreamGuard guard(s.side);
         x.neg_();
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterWrite, {"aten::fill_", "first"}, {"aten::neg_", "side"}}},
      {"event_recorded_again_for_other_work",
       [](const Setting& s) {
         at::Tensor x = s.ones({4});
         wait(s.side, s.first);
         x.fill_(1.0);
         c10::Event event(kSim), second(kSim);
         event.record(s.first);
         (s.is_right ? second : event).record(s.third);
         event.block(s.side);
         const c10::StreamGuard guard(s.side);
         x.neg_();
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterWrite, {"aten::fill_", "first"}, {"aten::neg_", "side"}}},
      {"the_wrong_stream_waits",
       [](const Setting& s) {
         at::Tensor x = s.ones({4});
         wait(s.side, s.first);
         x.fill_(1.0);
         wait(s.is_right ? s.side : s.third, s.first);
         const c10::StreamGuard guard(s.side);
         x.neg_();
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterWrite, {"aten::fill_", "first"}, {"aten::neg_", "side"}}},
      {"the_wrong_side_waits",
       [](const Setting& s) {
         at::Tensor x = s.ones({4});
         wait(s.side, s.first);
         x.fill_(1.0);
         s.is_right ? wait(s.side, s.first) : wait(s.first, s.side);
         const c10::StreamGuard guard(s.side);
         x.neg_();
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterWrite, {"aten::fill_", "first"}, {"aten::neg_", "side"}}},
      {"chain_with_a_link_missing",
       [](const Setting& s) {
         at::Tensor x = s.ones({4});
         wait(s.side, s.first);
         wait(s.third, s.first);
         x.fill_(1.0);
         if (s.is_right) wait(s.third, s.first);
         wait(s.side, s.third);
         const c10::StreamGuard guard(s.side);
         x.neg_();
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterWrite, {"aten::fill_", "first"}, {"aten::neg_", "side"}}},
      {"one_of_two_branches_is_joined",
       [](const Setting& s) {
         at::Tensor x = s.ones({4}), y = s.ones({4});
         wait(s.side, s.first);
         wait(s.third, s.first);
         {
           const c10::StreamGuard guard(s.side);
           x.mul_(2.0);
         }
         {
           const c10::StreamGuard guard(s.third);
           y.mul_(2.0);
         }
         wait(s.first, s.side);
         if (s.is_right) wait(s.first, s.third);
         x.add_(y);
         wait(s.first, s.third);
       },
       UnorderedUses{kReadAfterWrite, {"aten::mul", "third"}, {"aten::add_", "first"}}},
      {"record_stream_left_out",
       [](const Setting& s) {
         at::Tensor x = s.ones({4});
         const at::Tensor y = s.ones({4});
         wait(s.side, s.first);
         {
           const c10::StreamGuard guard(s.side);
           y.copy_(x);
         }
         if (s.is_right) x.record_stream(s.side);
         x.reset();
         wait(s.first, s.side);
       },
       UnorderedUses{kFreedInUse, {"aten::copy_", "side"}, {"free", "first"}}},
      {"record_stream_of_another_stream",
       [](const Setting& s) {
         at::Tensor x = s.ones({4});
         wait(s.side, s.first);
         {
           const c10::StreamGuard guard(s.side);
           x.neg_();
         }
         x.record_stream(s.is_right ? s.side : s.third);
         x.reset();
         wait(s.first, s.side);
       },
       UnorderedUses{kFreedInUse, {"aten::neg_", "side"}, {"free", "first"}}},
      {"freed_before_the_join",
       [](const Setting& s) {
         at::Tensor made, x = s.ones({4});
         {
           const c10::StreamGuard guard(s.side);
           made = s.ones({4});
         }
         wait(s.first, s.side);
         x.add_(made);
         if (s.is_right) wait(s.side, s.first);
         made.reset();
         wait(s.side, s.first);
       },
       UnorderedUses{kFreedInUse, {"aten::add_", "first"}, {"free", "side"}}},
      {"memory_used_before_its_stream_has_it",
       [](const Setting& s) {
         at::Tensor x = at::empty({3}, at::TensorOptions(s.first.device()));
         if (s.is_right) wait(s.side, s.first);
         const c10::StreamGuard guard(s.side);
         x.zero_();
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterWrite, {"allocation", "first"}, {"aten::zero_", "side"}}},
      {"gradient_read_on_another_stream",
       [](const Setting& s) {
         const at::Tensor weight = s.ones({4}).requires_grad_();
         weight.mutable_grad() = s.ones({4});
         wait(s.side, s.first);
         {
           const c10::StreamGuard guard(s.side);
           weight.square().sum().backward();
         }
         if (s.is_right) wait(s.first, s.side);
         weight.grad().neg_();
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterWrite, {"aten::add_", "side"}, {"aten::neg_", "first"}}},
      {"weight_updated_while_forward_reads_it",
       [](const Setting& s) {
         at::Tensor weight = s.ones({4, 4}), x = s.ones({4, 4});
         wait(s.side, s.first);
         at::Tensor y;
         {
           const c10::StreamGuard guard(s.side);
           y = at::mm(x, weight);
         }
         if (s.is_right) wait(s.first, s.side);
         weight.sub_(0.1);
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterRead, {"aten::mm", "side"}, {"aten::sub_", "first"}}},
      {"optimizer_before_the_gradients",
       [](const Setting& s) {
         const at::Tensor weight = s.ones({4}), gradient = s.ones({4});
         wait(s.side, s.first);
         gradient.fill_(3.0);
         if (s.is_right) wait(s.side, s.first);
         const c10::StreamGuard guard(s.side);
         at::_fused_sgd_({weight}, {gradient}, {}, 0.0, 0.0, 0.01, 0.0, false, false, false);
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterWrite, {"aten::fill_", "first"}, {"aten::_fused_sgd_", "side"}}},
      {"prefetched_batch_used_too_early",
       [](const Setting& s) {
         at::Tensor batch = s.pinned({4}), x = s.ones({4});
         wait(s.side, s.first);
         {
           const c10::StreamGuard guard(s.side);
           x.copy_(batch, /*non_blocking=*/true);
         }
         if (s.is_right) wait(s.first, s.side);
         x.relu();
         wait(s.first, s.side);
       },
       UnorderedUses{kReadAfterWrite, {"aten::copy_", "side"}, {"aten::relu", "first"}}},
      {"next_batch_over_the_one_in_use",
       [](const Setting& s) {
         at::Tensor batch = s.pinned({4}), x = s.ones({4});
         wait(s.side, s.first);
         x.relu();
         if (s.is_right) wait(s.side, s.first);
         const c10::StreamGuard guard(s.side);
         x.copy_(batch, /*non_blocking=*/true);
         wait(s.first, s.side);
       },
       UnorderedUses{kWriteAfterRead, {"aten::relu", "first"}, {"aten::copy_", "side"}}},
      {"result_of_out_used_too_early",
       [](const Setting& s) {
         at::Tensor x = s.ones({4, 4}), out = s.ones({4, 4});
         wait(s.side, s.first);
         {
           const c10::StreamGuard guard(s.side);
           at::mm_out(out, x, x);
         }
         if (s.is_right) wait(s.first, s.side);
         out.sum();
         wait(s.first, s.side);
       },
       UnorderedUses{kReadAfterWrite, {"aten::mm", "side"}, {"aten::sum", "first"}}},
      {"copy_of_what_another_stream_writes",
       [](const Setting& s) {
         at::Tensor x = s.ones({4}), y = s.ones_of_other({4});
         wait(s.side, s.first);
         {
           const c10::StreamGuard guard(s.side);
           x.fill_(2.0);
         }
         if (s.is_right) wait(s.first, s.side);
         y.copy_(x);
         wait(s.first, s.side);
       },
       UnorderedUses{kReadAfterWrite, {"aten::fill_", "side"}, {"aten::copy_", "first"}}},
      {"copy_to_another_device_used_on_a_third_stream",
       [](const Setting& s) {
         const at::Tensor x = s.ones({4});
         at::Tensor y = s.ones_of_other({4});
         wait(s.other, default_stream(1));
         y.copy_(x);
         if (s.is_right) wait(s.other, default_stream(1));
         const c10::StreamGuard guard(s.other);
         y.neg_();
         wait(default_stream(1), s.other);
       },
       UnorderedUses{kWriteAfterWrite, {"aten::copy_", "first"}, {"aten::neg_", "other"}}},
  };
}

}  // namespace libtrain::sim::test
