#include "libtrain/format/wordpiece.hpp"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace {

/// A small vocabulary in which some words are whole, others in pieces, others letter by letter.
libtrain::format::WordPiece make_tokenizer() {
  std::vector<std::string> vocabulary = {
      "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ",",     ".",    "the",  "of",    "a",
      "that",  "is",    "to",    "tree",  "##s",    "##ing", "##ed", "grow", "north", "##ern"};
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    if (letter != 'a') {
      vocabulary.emplace_back(1, letter);
    }
    if (letter != 's') {
      vocabulary.push_back(std::string("##") + letter);
    }
  }
  return {std::move(vocabulary), {}, "micro"};
}

void wordpiece(benchmark::State& state, const std::string& text) {
  const libtrain::format::WordPiece tokenizer = make_tokenizer();
  for (auto _ : state) {
    benchmark::DoNotOptimize(tokenizer.encode(text, 128));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

BENCHMARK_CAPTURE(wordpiece, ascii, "The growing of northern trees, that is to grow a tree.");
BENCHMARK_CAPTURE(wordpiece, accents, "Thé grówing öf nörthern trees, thät is tö gröw ä trèe.");

}  // namespace
