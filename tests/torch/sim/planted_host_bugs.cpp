#include <ATen/ATen.h>

#include <array>
#include <sstream>

#include "libtrain/sim/pinned_memory.hpp"
#include "libtrain/sim/sim.hpp"
#include "planted_bugs.hpp"
#include "sim_support.hpp"

namespace libtrain::sim::test {

std::vector<PlantedBug> bugs_of_pinned_memory() {
  using enum Hazard;
  constexpr auto kSim = c10::DeviceType::PrivateUse1;
  return {
      {"pinned_buffer_refilled_too_early",
       [](const Setting& s) {
         at::Tensor batch = s.pinned({6});
         const at::Tensor x = batch.to(device(), /*non_blocking=*/true);
         if (s.is_right) synchronize(s.first);
         batch.fill_(2.0);
         synchronize(s.first);
       },
       UnorderedUses{kWriteAfterRead, {"aten::copy_", "first"}, {"aten::fill_", "the host"}}},
      {"pinned_buffer_refilled_by_its_address",
       [](const Setting& s) {
         at::Tensor batch = s.pinned({6});
         const at::Tensor x = batch.to(device(), /*non_blocking=*/true);
         if (s.is_right) synchronize(s.first);
         note_host_write(batch, "loader");
         batch.mutable_data_ptr<float>()[0] = 5.0f;
         synchronize(s.first);
       },
       UnorderedUses{kWriteAfterRead, {"aten::copy_", "first"}, {"loader", "the host"}}},
      {"row_of_a_pinned_buffer_refilled_too_early",
       [](const Setting& s) {
         at::Tensor rows = s.pinned({2, 6});
         const at::Tensor x = rows[0].to(device(), /*non_blocking=*/true);
         rows[s.is_right ? 1 : 0].fill_(2.0);
         synchronize(s.first);
       },
       UnorderedUses{kWriteAfterRead, {"aten::copy_", "first"}, {"aten::fill_", "the host"}}},
      {"host_waits_for_the_wrong_stream",
       [](const Setting& s) {
         at::Tensor batch = s.pinned({6});
         const at::Tensor x = batch.to(device(), /*non_blocking=*/true);
         synchronize(s.is_right ? s.first : s.third);
         batch.mul_(2.0);
         synchronize(s.first);
       },
       UnorderedUses{kWriteAfterRead, {"aten::copy_", "first"}, {"aten::mul_", "the host"}}},
      {"slot_of_a_ring_given_back_too_early",
       [](const Setting& s) {
         const std::array<at::Tensor, 2> slots{s.pinned({2, 3}), s.pinned({2, 3})};
         std::array<c10::Event, 2> copied{c10::Event(kSim), c10::Event(kSim)};
         const c10::StreamGuard guard(s.side);
         for (int batch = 0; batch < 6; ++batch) {
           const int slot = batch % 2;
           if (s.is_right || batch < 5) copied[slot].synchronize();
           slots[slot].fill_(batch);
           const at::Tensor x = slots[slot].to(device(), /*non_blocking=*/true);
           copied[slot].record(s.side);
         }
       },
       UnorderedUses{kWriteAfterRead, {"aten::copy_", "side"}, {"aten::fill_", "the host"}}},
      {"host_reads_before_the_copy_ended",
       [](const Setting& s) {
         const at::Tensor result = s.pinned({6});
         result.copy_(s.ones({6}), /*non_blocking=*/true);
         if (s.is_right) synchronize(s.first);
         result[5].item<float>();
         synchronize(s.first);
       },
       UnorderedUses{kReadAfterWrite, {"aten::copy_", "first"}, {"aten::item", "the host"}}},
      {"host_computes_before_the_copy_ended",
       [](const Setting& s) {
         const at::Tensor result = s.ones({6}).to(at::kCPU, /*non_blocking=*/true);
         if (s.is_right) synchronize(s.first);
         result.sum();
         synchronize(s.first);
       },
       UnorderedUses{kReadAfterWrite, {"aten::copy_", "first"}, {"aten::sum", "the host"}}},
      {"host_keeps_a_copy_before_the_copy_ended",
       [](const Setting& s) {
         const at::Tensor result = s.ones({6}).to(at::kCPU, /*non_blocking=*/true);
         if (s.is_right) synchronize(s.first);
         at::empty({6}).copy_(result);
         synchronize(s.first);
       },
       UnorderedUses{kReadAfterWrite, {"aten::copy_", "first"}, {"aten::copy_", "the host"}}},
      {"host_reads_an_address_before_its_event",
       [](const Setting& s) {
         const at::Tensor result = s.ones({6}).to(at::kCPU, /*non_blocking=*/true);
         c10::Event event(kSim);
         event.record(s.first);
         if (s.is_right) event.query();
         note_host_read(result, "report");
         synchronize(s.first);
       },
       UnorderedUses{kReadAfterWrite, {"aten::copy_", "first"}, {"report", "the host"}}},
      {"event_asked_before_the_copy_is_recorded",
       [](const Setting& s) {
         const at::Tensor result = s.pinned({6});
         c10::Event event(kSim);
         if (!s.is_right) event.record(s.first);
         result.copy_(s.ones({6}), /*non_blocking=*/true);
         if (s.is_right) event.record(s.first);
         event.synchronize();
         note_host_read(result, "report");
         synchronize(s.first);
       },
       UnorderedUses{kReadAfterWrite, {"aten::copy_", "first"}, {"report", "the host"}}},
      {"two_copies_into_one_pinned_buffer",
       [](const Setting& s) {
         const at::Tensor result = s.pinned({6}), x = s.ones({6});
         wait(s.side, s.first);
         result.copy_(x, /*non_blocking=*/true);
         if (s.is_right) wait(s.side, s.first);
         {
           const c10::StreamGuard guard(s.side);
           result.copy_(x, /*non_blocking=*/true);
         }
         wait(s.first, s.side);
         synchronize(s.first);
       },
       UnorderedUses{kWriteAfterWrite, {"aten::copy_", "first"}, {"aten::copy_", "side"}}},
  };
}

std::vector<PlantedBug> bugs_of_waits_and_devices() {
  const std::string item = "aten::_local_scalar_dense";
  return {
      {"item",
       [](const Setting& s) {
         const at::Tensor loss = s.ones({4}).sum();
         s.is_right ? void(loss.detach()) : void(loss.item<float>());
       },
       ForbiddenWait{item}},
      {"condition_on_a_tensor",
       [](const Setting& s) {
         at::Tensor x = s.ones({4});
         const at::Tensor is_zero = (x == 0).all();
         if (s.is_right) {
           x = at::where(is_zero, x + 1, x);
         } else if (is_zero.is_nonzero()) {
           x = x + 1;
         }
       },
       ForbiddenWait{item}},
      {"gradient_norm_in_a_condition",
       [](const Setting& s) {
         at::Tensor gradient = s.ones({4});
         const at::Tensor norm = gradient.norm();
         if (s.is_right) {
           gradient.mul_((1.0 / norm).clamp_max(1.0));
         } else if (norm.item<float>() > 1.0f) {
           gradient.mul_(1.0 / norm);
         }
       },
       ForbiddenWait{item}},
      {"cpu",
       [](const Setting& s) {
         const at::Tensor x = s.ones({4});
         s.is_right ? x.to(at::kCPU, /*non_blocking=*/true) : x.cpu();
       },
       ForbiddenWait{"aten::copy_"}},
      {"print",
       [](const Setting& s) {
         std::ostringstream log;
         const at::Tensor x = s.ones({4});
         s.is_right ? log << x.sizes() : log << x;
       },
       ForbiddenWait{"aten::copy_"}},
      {"copy_to_memory_that_is_not_pinned",
       [](const Setting& s) {
         const at::Tensor result = s.is_right ? s.pinned({4}) : at::empty({4});
         result.copy_(s.ones({4}), /*non_blocking=*/true);
       },
       ForbiddenWait{"aten::copy_"}},
      {"copy_from_memory_that_is_not_pinned",
       [](const Setting& s) {
         const at::Tensor batch = s.is_right ? s.pinned({4}) : at::ones({4});
         batch.to(device(), /*non_blocking=*/true);
       },
       ForbiddenWait{"aten::copy_"}},
      {"blocking_copy_of_a_pinned_batch",
       [](const Setting& s) { s.pinned({4}).to(device(), /*non_blocking=*/s.is_right); },
       ForbiddenWait{"aten::copy_"}},
      {"number_made_on_the_host",
       [](const Setting& s) {
         s.is_right ? at::full({1}, 0.5, device()) : at::tensor({0.5f}).to(device());
       },
       ForbiddenWait{"aten::copy_"}},
      {"nonzero",
       [](const Setting& s) {
         const at::Tensor x = s.ones({4});
         s.is_right ? (x != 0).sum() : x.nonzero();
       },
       ForbiddenWait{"aten::nonzero"}},
      {"masked_select",
       [](const Setting& s) {
         const at::Tensor x = s.ones({4});
         s.is_right ? at::where(x > 0, x, 0.0).sum() : x.masked_select(x > 0).sum();
       },
       ForbiddenWait{"aten::masked_select"}},
      {"mask_as_an_index",
       [](const Setting& s) {
         at::Tensor x = s.ones({4});
         const at::Tensor mask = x > 0;
         s.is_right ? x.masked_fill_(mask, 0.0) : x.index({mask}).zero_();
       },
       ForbiddenWait{"aten::index"}},
      {"unique",
       [](const Setting& s) {
         const at::Tensor tokens = s.ones({4}).to(at::kLong);
         const at::Tensor counts = at::zeros({8}, tokens.options());
         s.is_right ? counts.scatter_add(0, tokens, tokens)
                    : std::get<0>(at::_unique2(tokens, true, false, true));
       },
       ForbiddenWait{"aten::_unique2"}},
      {"equal",
       [](const Setting& s) {
         const at::Tensor x = s.ones({4});
         s.is_right ? void((x == x).all()) : void(x.equal(x + 1));
       },
       ForbiddenWait{"aten::equal"}},
      {"synchronize_in_the_step",
       [](const Setting& s) { s.is_right ? wait(s.side, s.first) : synchronize(s.first); },
       ForbiddenWait{"stream synchronize"}},
      {"operand_on_another_device",
       [](const Setting& s) {
         at::mm(s.ones({2, 2}), s.is_right ? s.ones({2, 2}) : s.ones_of_other({2, 2}));
       },
       Refused{{"aten::mm", "mat2 on sim:1", "expected sim:0"}}},
      {"operand_on_the_host",
       [](const Setting& s) {
         s.ones({2, 2}).add(s.is_right ? s.ones({2, 2}) : at::ones({2, 2}));
       },
       Refused{{"aten::add", "other on cpu", "expected sim:0"}}},
      {"weight_left_on_the_host",
       [](const Setting& s) {
         at::embedding(s.is_right ? s.ones({4, 2}) : at::ones({4, 2}),
                       at::zeros({3}, at::TensorOptions(device()).dtype(at::kLong)));
       },
       Refused{{"aten::", "on cpu", "expected sim:0"}}},
      {"event_of_another_device",
       [](const Setting& s) {
         c10::Event event(c10::DeviceType::PrivateUse1);
         event.record(s.first);
         event.record(s.is_right ? s.side : s.other);
       },
       Refused{{"an event of sim:0 is recorded on a stream of sim:1"}}},
  };
}

}  // namespace libtrain::sim::test
