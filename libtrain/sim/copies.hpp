#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

namespace libtrain::sim {

/// Copies between the host and a device, within a device, or between two. As on CUDA the host waits
/// for a copy to or from it unless `non_blocking` is set and its memory is pinned; a copy between
/// devices runs on the source's stream, which waits for the target's before and is waited for
/// after.
at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking);

/// The one value of a tensor. The host waits for it.
at::Scalar local_scalar_dense(const at::Tensor& tensor);

/// `stream` uses the tensor's memory too: freed, it is not given out before that stream is done
/// with it.
void record_stream(at::Tensor& tensor, c10::Stream stream);

}  // namespace libtrain::sim
