#include "libtrain/facts/redact.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "tests/support/any_machine.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kHosts{"node17.cluster.example", "node17"};

TEST(RedactText, TakesOutWhatNamesAMachineOrAPerson) {
  const std::vector<std::pair<std::string, std::string>> table{
      {"GPU-1a2b3c4d-0000-1111-2222-333344445555,GPU-1a", "GPU-[redacted],GPU-[redacted]"},
      {"MIG-GPU-1a2b3c4d-0000-1111-2222-333344445555/1/0", "MIG-GPU-[redacted]/1/0"},
      {"id 1a2b3c4d-0000-1111-2222-333344445555.", "id 1a2b3c4d-0000-1111-2222-333344445555."},
      {"id 1a2b3c4d-0000-1111-2222-333344445555", "id [redacted]"},
      {"tcp://10.0.0.1:29500", "tcp://[redacted]"},
      {"fe80::1%eth0, ::ffff:10.0.0.1", "[redacted], [redacted]"},
      {"link/ether aa:bb:cc:dd:ee:ff", "link/ether [redacted]"},
      {"enx001122aabbcc,eth0", "enx[redacted],eth0"},
      {"NODE17:8, node17.cluster.example, node170", "[redacted]:8, [redacted], node170"},
      {"/home/alice/lib:/usr/lib:/home/bob", "/home/[redacted]/lib:/usr/lib:/home/[redacted]"},
      {"Xid 31, pid=4711, pid='8'", "Xid 31, pid=[redacted], pid='[redacted]'"},
  };
  for (const auto& [text, expected] : table) {
    EXPECT_EQ(redact_text(text, kHosts), expected);
  }
}

TEST(RedactText, LeavesWhatIsTheSameOnManyMachines) {
  for (const std::string text :
       {"0000:17:00.0", "00000000:17:00.0", "max_split_size_mb:512,expandable_segments:True",
        "8.0;9.0a;12.0+PTX", "^lo,docker0", "580.105.08", "mlx5_0/1", "-1", "0,1", "",
        "/usr/local/cuda-13.0/compat:/usr/lib64", "nvmlInit_v2: GPU is lost (NVML error 15)"}) {
    EXPECT_EQ(redact_text(text, kHosts), text);
  }
}

TEST(Redact, DropsIdsNamesAddressesAndProcesses) {
  MachineFacts facts;
  facts.gpus.resize(1);
  facts.gpus[0].uuid = "GPU-1a2b3c4d";
  facts.gpus[0].problem = "lost on node17";
  facts.gpus[0].unknown["peers"] = "asked by pid 4711";
  facts.gpu_driver.visible_devices = "GPU-1a2b3c4d";
  facts.gpu_driver.problem = "10.1.2.3 is away";
  facts.gpu_driver.cuda_problem = "refused on node17";
  facts.launch.problem = "node17 twice";
  facts.launch.variables = {{"MASTER_ADDR", "head-of-my-cluster"},
                            {"NCCL_COMM_ID", "secret:1"},
                            {"NCCL_SOCKET_IFNAME", "eth0"},
                            {"LD_LIBRARY_PATH", "/home/alice/lib"}};
  facts.network.interfaces = {{"eth0", "enx001122aabbcc"}};
  const MachineFacts redacted = redact(facts, kHosts);
  const std::string text = format_machine_facts(redacted);
  for (const char* secret :
       {"1a2b3c4d", "node17", "4711", "10.1.2.3", "head-of", "secret", "alice", "001122"}) {
    EXPECT_THAT(text, Not(HasSubstr(secret)));
  }
  EXPECT_THAT(text, HasSubstr("NCCL_SOCKET_IFNAME = eth0"));
  EXPECT_EQ(parse_machine_facts(text, "x"), redacted);
}

RC_GTEST_PROP(Redact, AnyFactsStayFactsAndTwiceIsOnce, ()) {
  const MachineFacts once = redact(any_machine(), kHosts);
  RC_ASSERT(parse_machine_facts(format_machine_facts(once), "x") == once);
  RC_ASSERT(redact(once, kHosts) == once);
}

}  // namespace
}  // namespace libtrain
