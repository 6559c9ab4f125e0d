#include "libtrain/probe/visible_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace libtrain {
namespace {

using testing::HasSubstr;
using Order = std::vector<size_t>;

NvmlDevice gpu(const std::string& uuid) {
  NvmlDevice out;
  out.facts.uuid = uuid;
  out.facts.mig_instance = false;
  return out;
}

NvmlDevice instance(int parent, const std::string& parent_uuid, const std::string& uuid,
                    int gpu_instance) {
  NvmlDevice out = gpu(uuid);
  out.facts.nvml_index = parent;
  out.facts.mig_instance = true;
  out.parent_uuid = parent_uuid;
  out.gpu_instance = gpu_instance;
  out.compute_instance = 0;
  return out;
}

const std::vector<NvmlDevice> kGpus = {gpu("GPU-8932f937-aa"), gpu("GPU-8932cccc-bb"),
                                       gpu("GPU-1000"), gpu("GPU-2000")};

struct Case {
  const char* variable;
  Order order;
  const char* ended;  ///< part of the reason, or null when all was read
};

TEST(VisibleDevices, FollowTheDriversRulesForIndices) {
  const std::vector<Case> table = {
      {"0", {0}, nullptr},
      {"3,1", {3, 1}, nullptr},
      {"0,1,2,3", {0, 1, 2, 3}, nullptr},
      {" 2 ,0", {2, 0}, nullptr},
      {"1gpu2,2ampere", {1, 2}, nullptr},
      {"+1", {1}, nullptr},
      {"007", {}, "\"007\" names no device of 4"},
      {"02", {2}, nullptr},
      {"", {}, "\"\" names no device of 4"},
      {"-1", {}, "\"-1\" names no device"},
      {"0,-1,1", {0}, "\"-1\" names no device"},
      {"2,4,0", {2}, "\"4\" names no device of 4"},
      {"1,,2", {1}, "\"\" names no device"},
      {"1,x", {1}, "\"x\" names no device"},
      {"NoDevFiles", {}, "\"NoDevFiles\" names no device"},
      {"99999999999999999999", {}, "names no device"},
      {"0,0", {}, "\"0\" names a device a second time"},
      {"0,1,0", {}, "\"0\" names a device a second time"},
      {"1,1x", {}, "\"1x\" names a device a second time"},
      {"0,GPU-1000", {0}, "\"GPU-1000\" names no device"},
  };
  for (const auto& [variable, order, ended] : table) {
    const VisibleDevices out = resolve_visible_devices(variable, kGpus);
    EXPECT_EQ(out.order, order) << variable;
    EXPECT_EQ(out.ended.has_value(), ended != nullptr) << variable;
    EXPECT_THAT(out.ended.value_or(""), HasSubstr(ended == nullptr ? "" : ended)) << variable;
  }
}

TEST(VisibleDevices, FollowTheDriversRulesForIds) {
  const std::vector<Case> table = {
      {"GPU-2000", {3}, nullptr},
      {"GPU-2,GPU-8932f", {3, 0}, nullptr},
      {"GPU-8932f937-aa,GPU-1000", {0, 2}, nullptr},
      {"GPU-8932", {}, "\"GPU-8932\" names 2 devices"},
      {"GPU-2,GPU-8932,GPU-1", {3}, "\"GPU-8932\" names 2 devices"},
      {"GPU-", {}, "names 4 devices"},
      {"GPU-3000", {}, "\"GPU-3000\" names no device"},
      {"GPU-2000x", {}, "names no device"},
      {"GPU-2000,0", {3}, "\"0\" names no device"},
      {"GPU-2000, GPU-1000", {3}, "\" GPU-1000\" names no device"},
      {"gpu-2000", {}, "names no device"},
      {"GPU-2,GPU-2000", {}, "names a device a second time"},
      {"MIG-GPU-2000/1/0", {}, "names no device"},
  };
  for (const auto& [variable, order, ended] : table) {
    const VisibleDevices out = resolve_visible_devices(variable, kGpus);
    EXPECT_EQ(out.order, order) << variable;
    EXPECT_THAT(out.ended.value_or(""), HasSubstr(ended == nullptr ? "" : ended)) << variable;
  }
}

TEST(VisibleDevices, AreAllWhenNothingIsSet) {
  EXPECT_EQ(resolve_visible_devices(std::nullopt, kGpus).order, (Order{0, 1, 2, 3}));
  EXPECT_EQ(resolve_visible_devices(std::nullopt, {}).order, Order{});
  EXPECT_EQ(resolve_visible_devices("0", {}).order, Order{});
}

TEST(VisibleDevices, DoNotCountWhatCudaCannotReach) {
  std::vector<NvmlDevice> devices = kGpus;
  devices[0].reachable = false;
  EXPECT_EQ(resolve_visible_devices(std::nullopt, devices).order, (Order{1, 2, 3}));
  EXPECT_EQ(resolve_visible_devices("0", devices).order, Order{1});
  EXPECT_EQ(resolve_visible_devices("GPU-8932", devices).order, Order{1});
}

TEST(VisibleDevices, GiveAProcessOneMigInstanceAndNothingElse) {
  const std::vector<NvmlDevice> devices = {gpu("GPU-a"), instance(1, "GPU-b", "MIG-11", 1),
                                           instance(1, "GPU-b", "MIG-12", 2),
                                           instance(2, "GPU-c", "MIG-21", 1)};
  const std::vector<std::pair<std::optional<std::string>, Order>> table = {
      {std::nullopt, {1}},
      {"0", {0}},
      {"1", {1}},
      {"2", {3}},
      {"2,1", {3}},
      {"0,1", {1}},
      {"3", {}},
      {"MIG-12", {2}},
      {"MIG-2", {3}},
      {"MIG-1", {}},
      {"MIG-21,MIG-11", {3}},
      {"MIG-GPU-b/2/0", {2}},
      {"MIG-GPU-b/3/0", {}},
      {"GPU-b", {1}},
      {"GPU-c", {3}},
  };
  for (const auto& [variable, order] : table) {
    EXPECT_EQ(resolve_visible_devices(variable, devices).order, order)
        << variable.value_or("unset");
  }
}

TEST(VisibleDevices, KnowWhetherTheyNameDevicesById) {
  EXPECT_TRUE(names_devices_by_id("GPU-1"));
  EXPECT_TRUE(names_devices_by_id("MIG-1"));
  EXPECT_FALSE(names_devices_by_id("0"));
  EXPECT_FALSE(names_devices_by_id(std::nullopt));
}

}  // namespace
}  // namespace libtrain
