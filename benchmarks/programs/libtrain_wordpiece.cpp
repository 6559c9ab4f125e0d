// WordPiece by libtrain, on one core. Settings: tokenizer, texts, max_length.

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/programs/worker.hpp"
#include "libtrain/format/tsv.hpp"
#include "libtrain/format/wordpiece.hpp"

namespace benchmarks {
namespace {

namespace format = libtrain::format;

std::vector<format::Encoding> encode(const format::WordPiece& tokenizer,
                                     const std::vector<format::TsvRow>& rows, int64_t max_length) {
  std::vector<format::Encoding> encodings;
  encodings.reserve(rows.size());
  for (const format::TsvRow& row : rows) {
    encodings.push_back(tokenizer.encode(row.text, max_length));
  }
  return encodings;
}

/// Number of tokens, and a sum that depends on every id and its place.
Values checksum(const std::vector<format::Encoding>& encodings) {
  double tokens = 0.0;
  double sum = 0.0;
  for (const format::Encoding& encoding : encodings) {
    tokens += static_cast<double>(encoding.ids.size());
    for (size_t place = 0; place < encoding.ids.size(); ++place) {
      sum += static_cast<double>(encoding.ids[place]) * static_cast<double>(place % 97 + 1);
    }
  }
  return {tokens, sum};
}

Work make(const Json& settings) {
  const auto tokenizer = std::make_shared<const format::WordPiece>(
      format::WordPiece::from_directory(settings.at("tokenizer")));
  const auto rows =
      std::make_shared<const std::vector<format::TsvRow>>(format::read_tsv(settings.at("texts")));
  const auto max_length = settings.at("max_length").get<int64_t>();

  return {.flags = {{"threads", 1}},
          .verify = [=](int64_t) { return checksum(encode(*tokenizer, *rows, max_length)); },
          .repeat =
              [=](int64_t) {
                return Values{static_cast<double>(encode(*tokenizer, *rows, max_length).size())};
              }};
}

}  // namespace
}  // namespace benchmarks

int main(int argc, char** argv) { return benchmarks::serve(argc, argv, benchmarks::make); }
