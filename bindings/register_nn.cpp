// The pieces of models under fasttrain/nn.py.

#include <pybind11/stl.h>
#include <torch/nn/modules/normalization.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bindings/register.hpp"
#include "libtrain/nn/add_norm.hpp"
#include "libtrain/nn/attention.hpp"
#include "libtrain/nn/dropout.hpp"
#include "libtrain/nn/embedding.hpp"
#include "libtrain/nn/gelu.hpp"
#include "libtrain/nn/linear.hpp"
#include "libtrain/runtime/packed.hpp"

namespace fasttrain {
namespace {

namespace lt = libtrain;
namespace py = pybind11;

/// pybind11 has no holder of constant objects; nothing bound here changes a layout.
using Layout = std::shared_ptr<lt::PackedLayout>;

Layout from_const(const lt::PackedLayoutPtr& layout) {
  return std::const_pointer_cast<lt::PackedLayout>(layout);
}

lt::AttentionOptions attention_options(int64_t heads, double dropout, std::optional<double> scale) {
  return {.heads = heads, .scale = scale, .dropout = dropout, .training = true};
}

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const Layout& layout, int64_t heads, double dropout,
                     std::optional<double> scale) {
  return lt::attention(query, key, value, layout, attention_options(heads, dropout, scale));
}

at::Tensor attention_qkvpacked(const at::Tensor& qkv, const Layout& layout, int64_t heads,
                               double dropout, std::optional<double> scale) {
  return lt::attention_qkvpacked(qkv, layout, attention_options(heads, dropout, scale));
}

at::Tensor dropout(const at::Tensor& input, double probability, bool training,
                   const Layout& layout) {
  return lt::dropout(input, probability, training, layout);
}

at::Tensor add_norm(const at::Tensor& input, const at::Tensor& residual, const at::Tensor& weight,
                    const at::Tensor& bias, double probability, double eps, bool training,
                    const Layout& layout) {
  torch::nn::LayerNormImpl norm(torch::nn::LayerNormOptions(weight.sizes().vec())
                                    .eps(eps)
                                    .elementwise_affine(false));  // allocates nothing
  norm.weight = weight;
  norm.bias = bias;
  return lt::add_norm(norm, input, residual, probability, training, layout);
}

}  // namespace

void register_nn(py::module_& module) {
  py::class_<lt::PackedLayout, Layout>(module, "PackedLayout",
                                       "Where each sample's rows lie when samples of different "
                                       "lengths are stored one after another without padding.")
      .def(py::init<const std::vector<int64_t>&>(), py::arg("lengths"))
      .def_property_readonly("samples", &lt::PackedLayout::samples)
      .def_property_readonly("rows", &lt::PackedLayout::rows, "the sum of all lengths")
      .def_property_readonly("longest", &lt::PackedLayout::longest)
      .def_property_readonly("offsets", &lt::PackedLayout::offsets,
                             "sample i owns rows offsets[i] to offsets[i + 1]")
      .def(
          "for_products",
          [](const Layout& layout, at::Device device) {
            return from_const(lt::layout_for_products(layout, device));
          },
          py::arg("device"),
          "Under the device's autocast, this layout and short samples after it that fill its rows "
          "up to one of a few numbers: 16-bit products are compiled for each. Else itself.");

  module.def("attention", attention, py::arg("query"), py::arg("key"), py::arg("value"),
             py::arg("layout"), py::arg("heads"), py::arg("dropout"), py::arg("scale"),
             ReleaseGil());
  module.def("attention_qkvpacked", attention_qkvpacked, py::arg("qkv"), py::arg("layout"),
             py::arg("heads"), py::arg("dropout"), py::arg("scale"), ReleaseGil());
  module.def("dropout", dropout, py::arg("input"), py::arg("probability"), py::arg("training"),
             py::arg("layout"), ReleaseGil());
  module.def("add_norm", add_norm, py::arg("input"), py::arg("residual"), py::arg("weight"),
             py::arg("bias"), py::arg("probability"), py::arg("eps"), py::arg("training"),
             py::arg("layout"), ReleaseGil());
  module.def("gelu", &lt::gelu, py::arg("input"), ReleaseGil());
  module.def("embedding", &lt::embedding, py::arg("weight"), py::arg("ids"), py::arg("padding_idx"),
             ReleaseGil());
}

}  // namespace fasttrain
