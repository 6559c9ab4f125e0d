#pragma once

// What most files below runtime/ include of LibTorch, read once: cmake makes it the precompiled
// header of the library and, by tests/torch, of the tests. Files still name what they use.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
