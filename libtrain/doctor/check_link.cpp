#include <algorithm>
#include <array>

#include "libtrain/core/text.hpp"
#include "libtrain/doctor/check.hpp"
#include "libtrain/doctor/nvlink.hpp"
#include "libtrain/plan/target.hpp"

namespace libtrain {
namespace {

/// Boards whose links end in NVSwitch or on the baseboard: they are up on a healthy machine. Cards
/// have links too, but only a bridge brings them up.
bool is_wired(const GpuFacts& gpu) {
  constexpr std::array<std::string_view, 5> kBoards{"SXM", "HBM3", "B200", "B300", "H200"};
  const std::string name = gpu.name.value_or("");
  return name.find("NVL") == std::string::npos &&
         std::ranges::any_of(kBoards, [&](std::string_view board) {
           return name.find(board) != std::string::npos;
         });
}

bool is_geforce(const GpuFacts& gpu) {
  return gpu.name && gpu.name->find("GeForce") != std::string::npos;
}

/// Current width and generation fall while a GPU is idle, in a VM they are the host's, and a GPU
/// that shares the host's memory reports a link that its data does not take (DGX Spark: one lane).
Outcome check_pcie_width(const Examined& seen) {
  if (seen.machine.host.virtual_machine == true) {
    return skip("in a virtual machine the width is the host's matter");
  }
  const auto judge = [](const GpuFacts& gpu) {
    if (is_idle(gpu) || shares_host_memory(gpu) || !gpu.pcie_width || !gpu.pcie_width_max) {
      return unknown();
    }
    return *gpu.pcie_width >= *gpu.pcie_width_max
               ? fine()
               : warn_of(fill("{} works on {} of {} PCIe lanes", name_of(gpu), *gpu.pcie_width,
                              *gpu.pcie_width_max),
                         "copies to and from the GPU take that much longer",
                         "reseat card and riser; use a slot that is wired for all lanes; check the "
                         "bifurcation set in the firmware");
  };
  return judge_each(visible_gpus(seen.machine), judge, "working GPUs use all their lanes",
                    "every visible GPU is idle or does not tell: run it while one is training");
}

Outcome check_nvlink(const Examined& seen) {
  const auto gpus = sound_gpus(seen.machine);
  if (gpus.size() < 2) {
    return skip("fewer than two visible GPUs that answer");
  }
  int most = 0;
  bool wired = false;
  bool known = false;
  for (const GpuFacts* gpu : gpus) {
    most = std::max(most, gpu->nvlinks_active.value_or(0));
    known = known || gpu->nvlinks_active.has_value();
    wired = wired || (is_wired(*gpu) && gpu->nvlinks.value_or(0) > 0);
  }
  if (!known || (most == 0 && !wired)) {
    return skip(known ? "no NVLink bridge" : "no visible GPU has NVLink");
  }
  for (const GpuFacts* gpu : gpus) {
    const int active = gpu->nvlinks_active.value_or(0);
    const bool short_of_its_own = active > 0 && active < gpu->nvlinks.value_or(0);
    if (active < most || active == 0 || (short_of_its_own && is_wired(*gpu))) {
      return warn_of(
          fill("{}: {} NVLinks up, expected {}", name_of(*gpu), active,
               std::max(most, is_wired(*gpu) ? gpu->nvlinks.value_or(0) : 0)),
          "all-reduce runs at the pace of the slowest pair",
          fill("nvidia-smi nvlink -s -i {}; a card without a bridge: leave it out by "
               "CUDA_VISIBLE_DEVICES; a link that is down: reset the GPU, then the baseboard",
               nvml_name(*gpu)));
    }
  }
  for (const GpuFacts* gpu : gpus) {
    if (const GpuFacts* partner = hidden_partner(seen.machine, gpus, *gpu)) {
      return warn_of(fill("the NVLinks of {} end at nvidia-smi's GPU {}, which is hidden",
                          name_of(*gpu), nvml_name(*partner)),
                     "its gradients pass over PCIe, many times slower",
                     "nvidia-smi topo -m; name GPUs in CUDA_VISIBLE_DEVICES that are linked to "
                     "each other");
    }
  }
  const auto unlinked = unlinked_pairs(seen.machine, gpus);
  return pass(fill("{} NVLinks up on each{}", most, unlinked ? ", " + *unlinked : ""));
}

Outcome check_peers(const Examined& seen) {
  const auto gpus = sound_gpus(seen.machine);
  if (gpus.size() < 2) {
    return skip("fewer than two visible GPUs that answer");
  }
  bool known = false;
  for (const GpuFacts* gpu : gpus) {
    for (const GpuFacts* other : gpus) {
      if (gpu == other || !gpu->peers || !other->nvml_index) {
        continue;
      }
      known = true;
      const bool reads =
          std::ranges::find(*gpu->peers, to_text(*other->nvml_index)) != gpu->peers->end();
      const std::string found = fill("{} cannot read {}", name_of(*gpu), name_of(*other));
      if (!reads && is_geforce(*gpu)) {
        return pass(found +
                    ": the driver gives GeForce cards no peer access but by NVLink, so "
                    "gradients pass through host memory");
      }
      if (!reads) {
        return warn_of(
            found,
            "gradients pass through host memory: all-reduce takes several times "
            "as long",
            "nvidia-smi topo -p2p r tells the reason; bare metal: boot with iommu=pt and "
            "switch ACS off in the firmware; a VM: ask for a machine type with peer access");
      }
    }
  }
  return known ? pass("every GPU may read every other") : skip("the driver does not tell");
}

/// With a translating IOMMU peer copies over PCIe hang or are dropped, while CUDA reports success
/// (NCCL, Troubleshooting, "PCI Access Control Services").
Outcome check_iommu(const Examined& seen) {
  const auto gpus = visible_gpus(seen.machine);
  if (gpus.size() < 2 || seen.machine.host.virtual_machine == true) {
    return skip(gpus.size() < 2 ? "fewer than two visible GPUs" : "a virtual machine");
  }
  const bool by_nvlink = std::ranges::all_of(gpus, [&](const GpuFacts* gpu) {
    return std::ranges::all_of(gpus, [&](const GpuFacts* other) {
      return gpu == other || are_linked(seen.machine, *gpu, *other);
    });
  });
  for (const GpuFacts* gpu : gpus) {
    if (!by_nvlink && gpu->iommu && gpu->iommu->starts_with("DMA")) {
      return warn_of(
          fill("the IOMMU translates the addresses of {} ({})", name_of(*gpu), quote(*gpu->iommu)),
          "peer copies over PCIe may hang, or be dropped without an error",
          "boot with the kernel parameter iommu=pt");
    }
  }
  return pass(by_nvlink ? "peers are linked by NVLink" : "addresses of GPUs are not translated");
}

bool redirects(const GpuFacts& gpu, const std::string& bridge) {
  const auto& bridges = gpu.acs_bridges;
  return bridges && std::ranges::find(*bridges, bridge) != bridges->end();
}

/// The first bridge between two GPUs, below the bridges they share, that redirects the copies of
/// `gpu`; null when there is none, and when no bridge is shared: such copies pass the host anyway.
const std::string* redirecting_bridge(const GpuFacts& gpu, const GpuFacts& other) {
  const auto& mine = *gpu.pci_bridges;
  const auto split = std::ranges::mismatch(mine, *other.pci_bridges).in1;
  if (split == mine.begin()) {
    return nullptr;
  }
  const auto found = std::find_if(
      split, mine.end(), [&](const std::string& bridge) { return redirects(gpu, bridge); });
  return found == mine.end() ? nullptr : &*found;
}

/// NCCL, Troubleshooting, "PCI Access Control Services (ACS)". In a virtual machine ACS is needed,
/// and NVLink goes past the bridges.
Outcome check_acs(const Examined& seen) {
  const auto gpus = visible_gpus(seen.machine);
  if (gpus.size() < 2 || seen.machine.host.virtual_machine == true) {
    return skip(gpus.size() < 2 ? "fewer than two visible GPUs" : "a virtual machine");
  }
  bool known = false;
  for (const GpuFacts* gpu : gpus) {
    for (const GpuFacts* other : gpus) {
      const bool told = gpu->acs_bridges && gpu->pci_bridges && other->pci_bridges;
      if (gpu == other || !told || are_linked(seen.machine, *gpu, *other)) {
        continue;
      }
      known = true;
      if (const std::string* bridge = redirecting_bridge(*gpu, *other)) {
        return warn_of(
            fill("the PCI bridge {} redirects what {} sends {}", quote(*bridge), name_of(*gpu),
                 name_of(*other)),
            "peer copies take the way over the host, at a fraction of the speed, and may "
            "hang",
            fill("switch ACS off in the firmware, or sudo setpci -s {} ECAP_ACS+6.w=0000",
                 *bridge));
      }
    }
  }
  return known ? pass("no bridge between the GPUs redirects their copies")
               : skip(
                     "GPUs are linked by NVLink, or the bridges may not be read: sudo fasttrain "
                     "doctor --only link");
}

constexpr std::array kChecks{
    Check{"link.pcie_width", "do working GPUs use all PCIe lanes", check_pcie_width},
    Check{"link.nvlink", "are all NVLinks up", check_nvlink},
    Check{"link.peers", "may GPUs read each other", check_peers},
    Check{"link.iommu", "does the IOMMU leave peer copies alone", check_iommu},
    Check{"link.acs", "do PCI bridges leave peer copies alone", check_acs},
};

}  // namespace

std::span<const Check> link_checks() { return kChecks; }

}  // namespace libtrain
