// What threads may use at once; build with a thread sanitizer (preset tsan) to see that they can.

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libtrain/core/file_system.hpp"
#include "libtrain/core/warning.hpp"
#include "libtrain/facts/machine_file.hpp"
#include "libtrain/format/wordpiece.hpp"
#include "libtrain/kernels/table.hpp"
#include "libtrain/plan/explain.hpp"
#include "libtrain/plan/make_plan.hpp"

namespace libtrain {
namespace {

namespace fs = std::filesystem;

constexpr int kThreads = 4;
const std::string kTests = LIBTRAIN_TEST_DATA;

/// work(0) to work(kThreads - 1), each on a thread of its own, all started together.
template <class Work>
void in_threads(const Work& work) {
  std::atomic<int> waiting = kThreads;
  std::vector<std::jthread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      for (--waiting; waiting > 0;) {
      }
      work(number);
    });
  }
}

// First in this file, as nothing before it may have asked for the table.
TEST(Threads, GetTheSameKernelsAtTheirFirstUse) {
  std::vector<const kernels::Table*> found(kThreads);
  in_threads([&](size_t number) { found[number] = &kernels::table(); });
  EXPECT_EQ(found, std::vector(kThreads, &kernels::table(kernels::active_isa())));
}

TEST(Threads, ComputeWithOneKernelAsOneThreadDoes) {
  constexpr int64_t kChunk = 1000;
  constexpr int64_t kCount = kChunk * kThreads;
  std::vector<float> in(kCount);
  for (int64_t i = 0; i < kCount; ++i) {
    in[static_cast<size_t>(i)] = static_cast<float>(i) / kChunk - 2.0F;
  }
  std::vector<float> expected(kCount);
  kernels::table().gelu_forward_f32(in.data(), expected.data(), kCount);
  std::vector<float> out(kCount);
  in_threads([&](int number) {
    const int64_t start = number * kChunk;
    kernels::table().gelu_forward_f32(in.data() + start, out.data() + start, kChunk);
  });
  EXPECT_EQ(out, expected);
}

TEST(Threads, WarnWhileTheHandlerIsReplaced) {
  constexpr int kWarnings = 100;
  std::atomic<int> heard = 0;
  const auto count = [&](const std::string&) { ++heard; };
  WarningHandler before = set_warning_handler(count);
  in_threads([&](int) {
    for (int i = 0; i < kWarnings; ++i) {
      warn("again");
      set_warning_handler(count);
    }
  });
  set_warning_handler(std::move(before));
  EXPECT_EQ(heard, kWarnings * kThreads);
}

TEST(Threads, WriteOneFileAndTheLastWins) {
  const fs::path folder = fs::path(testing::TempDir()) / "libtrain_threads";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string file = (folder / "a").string();
  const auto contents = [](int number) {
    return std::string(100'000, static_cast<char>('a' + number));
  };
  in_threads([&](int number) {
    for (int i = 0; i < 5; ++i) {
      write_file_atomically(file, contents(number));
      const std::string found = read_file(file);
      EXPECT_EQ(found, contents(found.at(0) - 'a'));
    }
  });
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  fs::remove_all(folder);
}

TEST(Threads, MakeTheSamePlan) {
  const MachineFacts machine = read_machine_facts(kTests + "/machines/h100-sxm-x8.facts");
  std::vector<std::string> texts(kThreads);
  in_threads([&](size_t number) { texts[number] = explain(make_plan({}, machine)); });
  EXPECT_EQ(texts, std::vector(kThreads, explain(make_plan({}, machine))));
}

TEST(Threads, ShareATokenizer) {
  const auto tokenizer = format::WordPiece::from_directory(kTests + "/data/wordpiece/vocab_txt");
  const std::string text = "Ångström units, 漢字 and unaffable words";
  std::vector<std::vector<int32_t>> ids(kThreads);
  in_threads([&](size_t number) {
    for (int i = 0; i < 50; ++i) {
      ids[number] = tokenizer.encode(text, 32).ids;
    }
  });
  EXPECT_EQ(ids, std::vector(kThreads, tokenizer.encode(text, 32).ids));
}

}  // namespace
}  // namespace libtrain
