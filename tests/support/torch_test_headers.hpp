#pragma once

// The precompiled header of all tests with LibTorch; tests/torch/build owns it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include "libtrain/torch_headers.hpp"
