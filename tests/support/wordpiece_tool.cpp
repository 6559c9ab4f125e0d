// wordpiece_tool DIRECTORY MAX_LENGTH [pairs]: reads texts (with `pairs`, two for each) that end in
// NUL and writes for each "ids|type ids" as a line.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "libtrain/core/text.hpp"
#include "libtrain/format/wordpiece.hpp"

namespace {

std::string line_of(const libtrain::format::Encoding& encoding) {
  std::string line;
  for (const auto* list : {&encoding.ids, &encoding.type_ids}) {
    line.append(line.empty() ? "" : "|");
    for (const int32_t value : *list) {
      line.append(libtrain::to_text(value)).append(" ");
    }
  }
  return line.append("\n");
}

void run(const std::string& directory, int64_t max_length, bool pairs) {
  const auto tokenizer = libtrain::format::WordPiece::from_directory(directory);
  const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
  std::string_view rest = input;
  const auto next = [&] {
    const std::string_view text = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    return text;
  };
  while (!rest.empty()) {
    const std::string_view text = next();
    std::cout << line_of(pairs ? tokenizer.encode(text, next(), max_length)
                               : tokenizer.encode(text, max_length));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto max_length = argc > 2 ? libtrain::parse_integer(argv[2]) : std::nullopt;
  if (!max_length) {
    std::cerr << "usage: wordpiece_tool DIRECTORY MAX_LENGTH [pairs]\n";
    return 2;
  }
  try {
    run(argv[1], *max_length, argc > 3);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
