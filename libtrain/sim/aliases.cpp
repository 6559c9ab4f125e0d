#include "libtrain/sim/aliases.hpp"

#include <algorithm>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/sim/device.hpp"
#include "libtrain/sim/memory.hpp"

namespace libtrain::sim {
namespace {

void copy_shape(const at::Tensor& from, const at::Tensor& to) {
  c10::TensorImpl* impl = to.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(from.sizes(), from.strides(), from.storage_offset());
}

at::Tensor over(const c10::Storage& storage, c10::DispatchKeySet keys, const at::Tensor& like) {
  at::Tensor tensor =
      at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage), keys, like.dtype());
  copy_shape(like, tensor);
  tensor._set_conj(like.is_conj());
  tensor._set_neg(like.is_neg());
  return tensor;
}

}  // namespace

c10::DispatchKeySet tensor_keys() {
  return c10::DispatchKeySet({c10::DispatchKey::PrivateUse1, c10::DispatchKey::HPU});
}

at::Tensor Aliases::to_cpu(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.device().type() != kSim) {
    return tensor;
  }
  for (const auto& [sim, cpu] : tensors_) {
    if (sim.is_same(tensor)) {
      return cpu;
    }
  }
  const c10::Storage storage = storage_to_cpu(tensor.storage());
  const at::Tensor alias = over(storage, c10::DispatchKeySet(c10::DispatchKey::CPU), tensor);
  tensors_.push_back({tensor, alias});
  return alias;
}

c10::Storage Aliases::storage_to_cpu(const c10::Storage& storage) {
  for (const auto& [sim, cpu] : storages_) {
    if (sim.unsafeGetStorageImpl() == storage.unsafeGetStorageImpl()) {
      return cpu;
    }
  }
  const c10::Storage cpu = host_memory(storage);
  storages_.push_back({storage, cpu});
  return cpu;
}

at::Tensor Aliases::to_sim(const at::Tensor& result) {
  if (!result.defined()) {
    return result;
  }
  for (const auto& [sim, cpu] : tensors_) {
    if (cpu.is_same(result)) {
      return sim;
    }
  }
  if (result.layout() != c10::kStrided || result.is_quantized()) {
    throw Unsupported(fill(
        "[sim.run] {} gives a tensor with layout {}, expected a strided one; run it on the CPU",
        op_, c10::str(result.layout())));
  }
  const at::Tensor tensor = over(storage_to_sim(result.storage()), tensor_keys(), result);
  tensors_.push_back({tensor, result});
  return tensor;
}

c10::Storage Aliases::storage_to_sim(const c10::Storage& storage) {
  for (const auto& [sim, cpu] : storages_) {
    if (cpu.unsafeGetStorageImpl() == storage.unsafeGetStorageImpl()) {
      return sim;
    }
  }
  const c10::Storage sim = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), storage.nbytes(), adopt(storage, op_, stream_),
      device_allocator(), /*resizable=*/true);
  storages_.push_back({sim, storage});
  return sim;
}

void Aliases::carry_back(const at::Tensor& tensor) {
  const auto known = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&tensor](const auto& pair) { return pair.sim.is_same(tensor); });
  if (known == tensors_.end()) {
    return;
  }
  const at::Tensor alias = known->cpu;
  const c10::Storage sim = storage_to_sim(alias.storage());
  c10::StorageImpl* storage = sim.unsafeGetStorageImpl();
  if (alias.storage().data() != storage->data()) {
    // Its memory was too small: the operator has put it into memory of the CPU's.
    c10::Storage grown(
        c10::Storage::use_byte_size_t(), static_cast<int64_t>(alias.storage().nbytes()),
        alias.storage().unsafeGetStorageImpl()->set_data_ptr(c10::DataPtr(nullptr, c10::kCPU)),
        c10::GetAllocator(c10::kCPU), /*resizable=*/true);
    storage->set_nbytes(grown.nbytes());
    storage->set_data_ptr_noswap(adopt(std::move(grown), op_, stream_));
  }
  if (!tensor.storage().is_alias_of(sim)) {
    tensor.unsafeGetTensorImpl()->set_storage_keep_dtype(sim);
  }
  copy_shape(alias, tensor);
}

}  // namespace libtrain::sim
