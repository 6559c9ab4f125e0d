#include "libtrain/sim/operators.hpp"

#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/view_native.h>
#include <deque>

#include "libtrain/sim/convolution.hpp"
#include "libtrain/sim/copies.hpp"
#include "libtrain/sim/dropout.hpp"
#include "libtrain/sim/factories.hpp"
#include "libtrain/sim/fallback.hpp"
#include "libtrain/sim/registration.hpp"
#include "libtrain/sim/scaled_mm.hpp"

namespace libtrain::sim {
namespace {

/// LibTorch gives the CPU's tensors other kernels than these: one says which attention suits the
/// CPU.
bool is_only_for_cpu(std::string_view name) { return name == "_fused_sdp_choice"; }

void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack) { run_on_cpu(op, stack); }

void add_own_operators(torch::Library& aten) {
  aten.impl("empty.memory_format", TORCH_FN(empty));
  aten.impl("empty_strided", TORCH_FN(empty_strided));
  // Views need no kernel: LibTorch's own work on any memory.
  aten.impl("view", TORCH_FN(at::native::view));
  aten.impl("as_strided", TORCH_FN(at::native::as_strided_tensorimpl));
  aten.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  aten.impl("set_.source_Storage",
            TORCH_FN(static_cast<at::Tensor& (*)(at::Tensor&, at::Storage)>(at::native::set_)));
  aten.impl("set_.source_Storage_storage_offset", TORCH_FN(at::native::set_storage_cpu_));

  aten.impl("_copy_from", TORCH_FN(copy_from));
  aten.impl("_local_scalar_dense", TORCH_FN(local_scalar_dense));
  aten.impl("record_stream", TORCH_FN(record_stream));

  aten.impl("native_dropout", TORCH_FN(native_dropout));
  aten.impl("_scaled_mm", TORCH_FN(scaled_mm));
  aten.impl("_scaled_mm.out", TORCH_FN(scaled_mm_out));

  aten.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&convolution>());
  aten.impl("convolution_backward_overrideable",
            torch::CppFunction::makeFromBoxedFunction<&convolution_backward>());
}

/// Every operator with a kernel for the CPU runs that, by name: the fall-back alone would come
/// after LibTorch's composite kernels, which compute some results in another way.
void add_operators_of_cpu(torch::Library& aten) {
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name :
       dispatcher.getRegistrationsForDispatchKey(c10::DispatchKey::CPU)) {
    const auto op = dispatcher.findSchema(name);
    if (op && name.getNamespace() == "aten" &&
        !op->hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1) &&
        !is_only_for_cpu(name.name)) {
      aten.impl(c10::toString(name).c_str(),
                torch::CppFunction::makeFromBoxedFunction<&fall_back>());
    }
  }
}

}  // namespace

torch::Library& library(const char* name, c10::DispatchKey key) {
  static auto* kept = new std::deque<torch::Library>;
  return kept->emplace_back(torch::Library::IMPL, name, key, __FILE__, __LINE__);
}

void register_operators() {
  library("_", c10::DispatchKey::PrivateUse1)
      .fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
  torch::Library& aten = library("aten", c10::DispatchKey::PrivateUse1);
  add_own_operators(aten);
  add_operators_of_cpu(aten);
  // A copy takes conjugated and negated views as they are; LibTorch would resolve them by a copy.
  for (const auto key : {c10::DispatchKey::Conjugate, c10::DispatchKey::Negative}) {
    library("aten", key).impl("_copy_from", torch::CppFunction::makeFallthrough());
  }
}

}  // namespace libtrain::sim
