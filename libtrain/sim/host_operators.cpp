#include "libtrain/sim/host_operators.hpp"

#include <ATen/record_function.h>

#include <algorithm>
#include <mutex>

#include "libtrain/sim/arguments.hpp"
#include "libtrain/sim/device.hpp"
#include "libtrain/sim/ledger.hpp"
#include "libtrain/sim/pinned_memory.hpp"

namespace libtrain::sim {
namespace {

bool names_device(const c10::IValue& value) {
  bool found = value.isDevice() && value.toDevice().type() == kSim;
  for_each_tensor(value, [&found](const at::Tensor& tensor) {
    found |= tensor.defined() && tensor.device().type() == kSim;
  });
  return found;
}

/// Makes a tensor from another's shape alone, or says something about it.
bool reads_no_values(std::string_view op) {
  return op.ends_with("_like") || op.starts_with("aten::new_") || op == "aten::is_pinned" ||
         op == "aten::resize_" || op == "aten::set_" || op == "aten::pin_memory" ||
         op == "aten::_pin_memory";
}

Block* pinned_block_of(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().is_cpu() && tensor.has_storage()
             ? pinned_block(tensor.storage().data_ptr())
             : nullptr;
}

thread_local int x_booked = 0;  // how many PartsOfBooked live

/// Lives as long as the host's operator that it was booked for.
struct Booked : at::ObserverContext {
  PartsOfBooked parts;
};

std::unique_ptr<at::ObserverContext> book(const at::RecordFunction& call) {
  if (x_booked > 0) {
    return nullptr;
  }
  const auto inputs = call.inputs();
  bool any_pinned = false;
  for (const c10::IValue& input : inputs) {
    for_each_tensor(input, [&any_pinned](const at::Tensor& tensor) {
      any_pinned |= pinned_block_of(tensor) != nullptr;
    });
  }
  // What touches the device books its own uses, on its stream.
  if (!any_pinned || std::any_of(inputs.begin(), inputs.end(), names_device)) {
    return nullptr;
  }
  const auto name = call.operator_name();
  const auto op = name ? c10::Dispatcher::singleton().findSchema(*name) : std::nullopt;
  if (!op || reads_no_values(op->schema().name())) {
    return nullptr;
  }
  const auto& arguments = op->schema().arguments();
  std::vector<Use> uses;
  for (size_t i = 0; i < std::min(inputs.size(), arguments.size()); ++i) {
    const Touch touch = touch_of(arguments[i]);
    for_each_tensor(inputs[i], [&](const at::Tensor& tensor) {
      if (Block* block = pinned_block_of(tensor); block && touch != Touch::kNone) {
        uses.push_back({block, tensor, touch == Touch::kWrite});
      }
    });
  }
  if (uses.empty()) {
    return nullptr;
  }
  Ledger::get().run_on_host(op->schema().name(), uses);
  return std::make_unique<Booked>();
}

}  // namespace

PartsOfBooked::PartsOfBooked() { ++x_booked; }

PartsOfBooked::~PartsOfBooked() { --x_booked; }

void watch_host_operators() {
  static std::once_flag once;
  std::call_once(once, [] {
    at::addGlobalCallback(
        at::RecordFunctionCallback(&book).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  });
}

}  // namespace libtrain::sim
