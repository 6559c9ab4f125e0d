#include "libtrain/format/json_events.hpp"

#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"

namespace libtrain::format {
namespace {

constexpr size_t kMaxDepth = 64;
constexpr int kNumberOverflow = 406;  // nlohmann's id of "number overflow parsing"

/// Input iterator that tells how far the parser has read: its events carry no position.
class Cursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}

  reference operator*() const { return *at_; }
  Cursor& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  friend bool operator==(const Cursor& a, const Cursor& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

/// nlohmann's handler: adds offsets and the rules its parser does not have.
class Strict {
 public:
  Strict(std::string_view text, const std::string& name, int64_t start, JsonEvents& events)
      : text_(text), name_(name), start_(start), events_(events), furthest_(text.data()) {}

  void parse() {
    // nlohmann's parser skips a byte order mark and takes a NUL for the end of the text.
    if (text_.starts_with("\xEF\xBB\xBF")) {
      fail(0, "byte order mark before the value");
    }
    if (const size_t nul = text_.find('\0'); nul != std::string_view::npos) {
      fail(nul, "NUL byte");
    }
    const Cursor first(text_.data(), &furthest_);
    const Cursor last(text_.data() + text_.size(), &furthest_);
    Json::sax_parse(first, last, this);
  }

  bool null() { return scalar(nullptr); }
  bool boolean(bool value) { return scalar(value); }
  bool number_integer(int64_t value) { return scalar(value); }
  bool number_unsigned(uint64_t value) { return scalar(value); }
  bool number_float(double value, const std::string& token) {
    if (token.find_first_of(".eE") == std::string::npos) {
      fail(token_start(), "integer out of range", token);
    }
    return scalar(value);
  }
  bool string(std::string& value) { return scalar(std::move(value)); }
  static bool binary(Json::binary_t& /*value*/) { return false; }  // not in JSON text

  bool start_object(size_t /*size*/) {
    const size_t at = open();
    keys_.emplace_back();
    events_.begin_object(offset(at));
    return true;
  }
  bool key(std::string& text) {
    const size_t at = token_start();
    if (!keys_.back().insert(text).second) {
      fail(at, "duplicate key", text);
    }
    events_.key(std::move(text), offset(at));
    return true;
  }
  bool end_object() {
    keys_.pop_back();
    return close();
  }
  bool start_array(size_t /*size*/) {
    events_.begin_array(offset(open()));
    return true;
  }
  bool end_array() { return close(); }

  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) {
    const size_t at = position == 0 ? 0 : position - 1;  // counts the bytes read
    if (error.id == kNumberOverflow) {
      fail(token_start(), "number out of range", token);
    }
    if (at >= text_.size()) {
      fail(text_.size(), "text ends too early");
    }
    fail(at, "not valid JSON", token);
  }

 private:
  int64_t offset(size_t at) const { return start_ + static_cast<int64_t>(at); }

  /// Index at which the token just read starts: the first after the one before that is no
  /// separator.
  size_t token_start() {
    const size_t at = text_.find_first_not_of(" \t\r\n,:", read_);
    read_ = static_cast<size_t>(furthest_ - text_.data());
    return at;
  }

  bool scalar(Json value) {
    const size_t at = token_start();
    events_.scalar(std::move(value), offset(at));
    return true;
  }

  size_t open() {
    const size_t at = token_start();
    if (++depth_ > kMaxDepth) {
      fail(at, fill("nested deeper than {} levels", kMaxDepth));
    }
    return at;
  }

  bool close() {
    token_start();
    --depth_;
    events_.end();
    return true;
  }

  [[noreturn]] void fail(size_t at, std::string_view what, std::string_view token = {}) const {
    const std::string text = token.empty() ? "" : fill(", at={}", quote(token));
    throw BadFile(fill("[json.parse] {}: file={}, byte={}{}; correct the file or fetch it again",
                       what, quote(name_, 400), offset(at), text),
                  name_, offset(at));
  }

  std::string_view text_;
  const std::string& name_;
  int64_t start_;
  JsonEvents& events_;
  const char* furthest_;
  size_t read_ = 0;  // bytes up to the last event
  size_t depth_ = 0;
  std::vector<std::set<std::string>> keys_;  // of each open object
};

}  // namespace

void parse_json_events(std::string_view text, const std::string& name, int64_t start,
                       JsonEvents& events) {
  Strict(text, name, start, events).parse();
}

}  // namespace libtrain::format
