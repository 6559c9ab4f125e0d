#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <algorithm>

namespace libtrain::sim {

/// What an operator does with the values of a tensor it is given.
enum class Touch { kNone, kRead, kWrite };

/// By the argument's annotation: `Tensor(a!)` is written, `Tensor(a)` only gives its memory to a
/// view.
inline Touch touch_of(const c10::Argument& argument) {
  const c10::AliasInfo* alias = argument.alias_info();
  if (!alias) {
    return Touch::kRead;
  }
  const auto& contained = alias->containedTypes();
  const bool write =
      alias->isWrite() || std::any_of(contained.begin(), contained.end(),
                                      [](const auto& inner) { return inner.isWrite(); });
  return write ? Touch::kWrite : Touch::kNone;
}

/// Calls `function` with each tensor of an argument, also those in lists.
template <class Function>
void for_each_tensor(const c10::IValue& value, const Function& function) {
  if (value.isTensor()) {
    function(value.toTensor());
  } else if (value.isTensorList() || value.isOptionalTensorList()) {
    for (const c10::IValue& element : value.toListRef()) {
      if (element.isTensor()) {
        function(element.toTensor());
      }
    }
  }
}

}  // namespace libtrain::sim
