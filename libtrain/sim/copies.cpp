#include "libtrain/sim/copies.hpp"

#include <ATen/ops/_local_scalar_dense.h>

#include <limits>

#include "libtrain/sim/aliases.hpp"
#include "libtrain/sim/device.hpp"
#include "libtrain/sim/faults.hpp"
#include "libtrain/sim/host_operators.hpp"
#include "libtrain/sim/host_waits.hpp"
#include "libtrain/sim/ledger.hpp"
#include "libtrain/sim/memory.hpp"
#include "libtrain/sim/pinned_memory.hpp"

namespace libtrain::sim {
namespace {

constexpr std::string_view kCopy = "aten::copy_";
constexpr std::string_view kScalar = "aten::_local_scalar_dense";

bool on_sim(const at::Tensor& tensor) { return tensor.device().type() == kSim; }

/// What the books know of the tensor's memory: nothing of the host's that is not pinned.
std::vector<Use> uses_of(const at::Tensor& from, const at::Tensor& to) {
  std::vector<Use> uses;
  for (const auto& [tensor, write] : {std::pair(from, false), std::pair(to, true)}) {
    const c10::DataPtr& memory = tensor.storage().data_ptr();
    if (Block* block = on_sim(tensor) ? device_block(memory) : pinned_block(memory)) {
      uses.push_back({block, tensor, write});
    }
  }
  return uses;
}

void copy_values(const at::Tensor& from, const at::Tensor& to, const c10::Stream& stream) {
  const PartsOfBooked parts;
  Aliases aliases(kCopy, stream);
  aliases.to_cpu(to).copy_(aliases.to_cpu(from));
}

void copy_between_devices(const at::Tensor& from, const at::Tensor& to) {
  const c10::Stream source = current_stream(from.device().index());
  const c10::Stream target = current_stream(to.device().index());
  Ledger& ledger = Ledger::get();
  ledger.block(ledger.record(target), source);
  ledger.run(kCopy, source, uses_of(from, to));
  ledger.block(ledger.record(source), target);
  copy_values(from, to, source);
}

void copy_with_host(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  const at::Tensor& host = on_sim(from) ? to : from;
  const c10::Stream stream = current_stream((on_sim(from) ? from : to).device().index());
  const bool waits = !non_blocking || !pinned_block(host.storage().data_ptr());
  if (waits) {
    count_host_wait(kCopy, stream);
  }
  Ledger::get().run(kCopy, stream, uses_of(from, to));
  copy_values(from, to, stream);
  if (waits) {
    Ledger::get().host_knows(stream);
  }
}

}  // namespace

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  const c10::DeviceIndex device = (on_sim(from) ? from : to).device().index();
  const bool becomes_nan = fault_due(FaultPoint::kCopy, kCopy, device);
  if (!on_sim(from) || !on_sim(to)) {
    copy_with_host(from, to, non_blocking);
  } else if (from.device() != to.device()) {
    copy_between_devices(from, to);
  } else {
    const c10::Stream stream = current_stream(to.device().index());
    Ledger::get().run(kCopy, stream, uses_of(from, to));
    copy_values(from, to, stream);
  }
  if (becomes_nan && to.is_floating_point()) {
    const PartsOfBooked parts;
    Aliases aliases(kCopy, current_stream(device));
    aliases.to_cpu(to).fill_(std::numeric_limits<double>::quiet_NaN());
  }
  return to;
}

at::Scalar local_scalar_dense(const at::Tensor& tensor) {
  const c10::Stream stream = current_stream(tensor.device().index());
  require_not_lost(kScalar, stream.device_index());
  count_host_wait(kScalar, stream);
  if (Block* block = device_block(tensor.storage().data_ptr())) {
    Ledger::get().run(kScalar, stream, {{block, tensor, false}});
  }
  Ledger::get().host_knows(stream);
  Aliases aliases(kScalar, stream);
  return at::_local_scalar_dense(aliases.to_cpu(tensor));
}

void record_stream(at::Tensor& tensor, c10::Stream stream) {
  if (Block* block = device_block(tensor.storage().data_ptr())) {
    Ledger::get().record_stream(*block, stream);
  }
}

}  // namespace libtrain::sim
