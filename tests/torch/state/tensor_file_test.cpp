#include "libtrain/state/tensor_file.hpp"

#include <ATen/ops/_neg_view.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "libtrain/core/error.hpp"
#include "libtrain/core/file_system.hpp"
#include "tests/support/test_device.hpp"

namespace libtrain {
namespace {

using testing_support::test_device;

class TensorFile : public testing::Test {
 protected:
  std::string path_ = testing::TempDir() + "/libtrain_tensor_file.safetensors";
  void TearDown() override { std::filesystem::remove(path_); }
};

TEST_F(TensorFile, KeepsEveryKindOfTensor) {
  TensorMap tensors = {
      {"bf16", at::randn({3, 5}).to(at::kBFloat16)},
      {"zero_dim", at::tensor(2.5)},
      {"empty", at::zeros({0, 4})},
      {"non_contiguous", at::randn({4, 6}).t()},
      {"bool", at::tensor({1, 0, 1}).to(at::kBool)},
      {"int64", at::arange(7)},
      {"half", at::randn({2}).to(at::kHalf)},
      {"complex", at::randn({2}, at::kComplexFloat)},
  };
  for (auto& [name, tensor] : tensors) {
    tensor = tensor.to(test_device());
  }
  save_file(tensors, path_);
  const TensorMap loaded = load_file(path_);
  ASSERT_EQ(loaded.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(loaded.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(at::equal(loaded.at(name), tensor.cpu())) << name;
  }
}

TEST_F(TensorFile, StoresASharedTensorOnceAndSharesItAgain) {
  const at::Tensor tied = at::randn({100, 100}).to(test_device());
  save_file({{"decoder", tied}, {"embedding", tied}, {"other", tied.clone()}}, path_);
  EXPECT_LT(std::filesystem::file_size(path_), 3U * 40000U);
  const TensorMap loaded = load_file(path_);
  loaded.at("decoder").fill_(7.0);
  EXPECT_TRUE(at::equal(loaded.at("embedding"), loaded.at("decoder")));
  EXPECT_FALSE(at::equal(loaded.at("other"), loaded.at("decoder")));
}

TEST_F(TensorFile, DoesNotShareViewsThatDiffer) {
  const at::Tensor whole = at::arange(6, at::kFloat).to(test_device());
  save_file({{"whole", whole}, {"head", whole.narrow(0, 0, 3)}, {"as_matrix", whole.view({2, 3})}},
            path_);
  const TensorMap loaded = load_file(path_);
  EXPECT_EQ(loaded.at("head").numel(), 3);
  EXPECT_EQ(loaded.at("as_matrix").dim(), 2);
}

TEST_F(TensorFile, KeepsNumbersThatAreNegatedOrConjugatedLazily) {
  const at::Tensor real = at::randn({3}).to(test_device());
  const at::Tensor complex = at::randn({3}, at::kComplexFloat).to(test_device());
  const TensorMap tensors = {{"complex", complex},
                             {"conjugate", complex.conj()},
                             {"real", real},
                             {"negated", at::_neg_view(real)}};
  save_file(tensors, path_);
  for (const auto& [name, tensor] : load_file(path_)) {
    EXPECT_TRUE(at::equal(tensor, tensors.at(name).resolve_conj().resolve_neg().cpu())) << name;
  }
}

TEST_F(TensorFile, RefusesATensorWithoutPlainNumbers) {
  EXPECT_THROW(save_file({{"x", at::zeros({2, 2}).to_sparse()}}, path_), Unsupported);
  EXPECT_THROW(save_file({{"x", at::zeros({2}, at::kMeta)}}, path_), Unsupported);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(TensorFile, RefusesADtypeTheFormatLacks) {
  EXPECT_THROW(save_file({{"x", at::zeros({2}, at::kComplexDouble)}}, path_), Unsupported);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(TensorFile, RefusesATornFile) {
  save_file({{"x", at::randn({64})}}, path_);
  const std::string whole = read_file(path_);
  for (const size_t length : {size_t{0}, size_t{4}, size_t{20}, whole.size() - 1}) {
    write_file_atomically(path_, whole.substr(0, length));
    EXPECT_THROW(load_file(path_), BadFile) << length;
  }
}

}  // namespace
}  // namespace libtrain
