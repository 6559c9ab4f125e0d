#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "libtrain/core/file_system.hpp"
#include "libtrain/core/require.hpp"
#include "libtrain/format/json.hpp"
#include "libtrain/format/json_fields.hpp"
#include "libtrain/format/unicode_text.hpp"
#include "libtrain/format/wordpiece.hpp"

namespace libtrain::format {
namespace {

constexpr int64_t kFileLimitBytes = int64_t{256} << 20;

template <class E = BadFile, class... Args>
[[noreturn]] void fail(const std::string& file, std::string_view what, const Args&... args) {
  const std::string message =
      fill("[wordpiece.open] {}: {}", quote(file, 400), fill(what, args...));
  if constexpr (std::is_same_v<E, BadFile>) {
    throw BadFile(message, file);
  } else {
    throw E(message);
  }
}

const Json& require_member(const Json& object, std::string_view key, Json::value_t type,
                           const std::string& file) {
  const auto found = object.find(key);
  if (found == object.end() || found->type() != type) {
    fail(file, "key={}: found {}, expected an {}", quote(key),
         found == object.end() ? "nothing" : found->type_name(), Json(type).type_name());
  }
  return *found;
}

/// The part of tokenizer.json under `key`, which must be of a kind this tokenizer knows.
const Json& require_part(const Json& root, std::string_view key,
                         std::initializer_list<std::string_view> kinds, const std::string& file) {
  const auto found = root.find(key);
  const std::string kind =
      found != root.end() && found->is_object() ? require_string(*found, "type", file) : "none";
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    fail<Unsupported>(file, "{}.type={}, expected {}; only BERT's tokenizer is read", key,
                      quote(kind), *kinds.begin());
  }
  return *found;
}

/// tokenizer.json's map from text to id, as a list.
std::vector<std::string> read_vocabulary(const Json& vocabulary, const std::string& file) {
  std::vector<std::string> tokens(vocabulary.size());
  std::vector<bool> seen(tokens.size());
  for (const auto& [token, value] : vocabulary.items()) {
    const bool known = value.is_number_unsigned() && value.get<uint64_t>() < tokens.size();
    const size_t id = known ? value.get<size_t>() : 0;
    if (!known || seen[id]) {
      fail(file, "model.vocab: token={} has id={}, expected each of 0 to {} once", quote(token),
           quote(value.dump(-1, ' ', true, Json::error_handler_t::replace)), tokens.size() - 1);
    }
    seen[id] = true;
    tokens[id] = token;
  }
  return tokens;
}

AddedToken read_added_token(const Json& json, const std::string& file) {
  return {.text = require_string(json, "content", file),
          .single_word = require_bool(json, "single_word", file),
          .lstrip = require_bool(json, "lstrip", file),
          .rstrip = require_bool(json, "rstrip", file),
          .normalized = require_bool(json, "normalized", file)};
}

/// Reads the names and ids of [CLS] and [SEP] into `options` and `ids`.
void read_bert_processing(const Json& json, WordPieceOptions& options,
                          std::map<std::string, int64_t>& ids, const std::string& file) {
  for (const auto& [key, name] : {std::pair("cls", &options.cls), std::pair("sep", &options.sep)}) {
    const Json& pair = require_member(json, key, Json::value_t::array, file);
    if (pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number_integer()) {
      fail(file, "post_processor.{}: expected [text, id]", key);
    }
    *name = pair[0].get<std::string>();
    ids[*name] = pair[1].get<int64_t>();
  }
}

/// One line for a template, "[CLS]:0 $A:0 [SEP]:0", as the package writes it.
std::string template_text(const Json& pieces, const std::string& file) {
  std::string text;
  for (const Json& piece : pieces) {
    const bool special = piece.is_object() && piece.contains("SpecialToken");
    const Json& body =
        require_member(piece, special ? "SpecialToken" : "Sequence", Json::value_t::object, file);
    text.append(text.empty() ? "" : " ").append(special ? "" : "$");
    text.append(require_string(body, "id", file)).append(":");
    text.append(to_text(require_int(body, "type_id", file)));
  }
  return text;
}

void read_template_processing(const Json& json, WordPieceOptions& options,
                              std::map<std::string, int64_t>& ids, const std::string& file) {
  const Json& single = require_member(json, "single", Json::value_t::array, file);
  const Json& pair = require_member(json, "pair", Json::value_t::array, file);
  const Json& specials = require_member(json, "special_tokens", Json::value_t::object, file);
  const auto special = [&](size_t at) {
    const bool there = at < single.size() && single[at].is_object();
    const auto found = there ? single[at].find("SpecialToken") : single.end();
    return there && found != single[at].end() ? require_string(*found, "id", file) : std::string();
  };
  options.cls = special(0);
  options.sep = special(2);
  const std::string expected = fill("{}:0 $A:0 {}:0", options.cls, options.sep);
  const std::string expected_pair = fill("{} $B:1 {}:1", expected, options.sep);
  if (template_text(single, file) != expected || template_text(pair, file) != expected_pair) {
    fail<Unsupported>(file, "post_processor: single={} and pair={}, expected BERT's {} and {}",
                      quote(template_text(single, file)), quote(template_text(pair, file)),
                      quote("[CLS]:0 $A:0 [SEP]:0"), quote("[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1"));
  }
  for (const std::string& name : {options.cls, options.sep}) {
    const Json& entry = require_member(specials, name, Json::value_t::object, file);
    const Json& list = require_member(entry, "ids", Json::value_t::array, file);
    if (list.size() != 1 || !list[0].is_number_integer()) {
      fail(file, "post_processor.special_tokens: token={}, expected one id", quote(name));
    }
    ids[name] = list[0].get<int64_t>();
  }
}

WordPiece read_tokenizer_json(const std::string& file) {
  const Json root = parse_json(read_file(file, kFileLimitBytes), file);
  if (!root.is_object()) {
    fail(file, "found an {}, expected an object", root.type_name());
  }
  WordPieceOptions options;
  const Json& normalizer = require_part(root, "normalizer", {"BertNormalizer"}, file);
  options.lowercase = require_bool(normalizer, "lowercase", file);
  options.strip_accents = find_bool(normalizer, "strip_accents", file);
  options.clean_text = require_bool(normalizer, "clean_text", file);
  options.handle_chinese_chars = require_bool(normalizer, "handle_chinese_chars", file);
  require_part(root, "pre_tokenizer", {"BertPreTokenizer"}, file);

  const Json& model = require_part(root, "model", {"WordPiece"}, file);
  options.unknown = require_string(model, "unk_token", file);
  options.continuing_prefix = require_string(model, "continuing_subword_prefix", file);
  options.max_characters_per_word = require_int(model, "max_input_chars_per_word", file);
  if (options.max_characters_per_word < 0) {
    fail(file, "model.max_input_chars_per_word={}, expected 0 or more",
         options.max_characters_per_word);
  }

  std::map<std::string, int64_t> ids;
  options.added_tokens.clear();
  for (const Json& token : require_member(root, "added_tokens", Json::value_t::array, file)) {
    options.added_tokens.push_back(read_added_token(token, file));
    ids[options.added_tokens.back().text] = require_int(token, "id", file);
  }
  std::map<std::string, int64_t> special_ids;
  const Json& post =
      require_part(root, "post_processor", {"TemplateProcessing", "BertProcessing"}, file);
  if (require_string(post, "type", file) == "BertProcessing") {
    read_bert_processing(post, options, special_ids, file);
  } else {
    read_template_processing(post, options, special_ids, file);
  }

  const Json& vocabulary = require_member(model, "vocab", Json::value_t::object, file);
  WordPiece tokenizer(read_vocabulary(vocabulary, file), options, file);
  for (const auto* known : {&ids, &special_ids}) {
    for (const auto& [token, id] : *known) {
      if (tokenizer.id(token) != id) {
        fail(file, "token={} is given id={}, but the vocabulary makes it {}", quote(token), id,
             *tokenizer.id(token));
      }
    }
  }
  return tokenizer;
}

std::vector<std::string> read_vocabulary_lines(const std::string& file) {
  const std::string text = read_file(file, kFileLimitBytes);
  if (const auto invalid = find_invalid_utf8(text)) {
    throw BadFile(fill("[wordpiece.open] {}: not UTF-8: offset={}", quote(file, 400), *invalid),
                  file, static_cast<int64_t>(*invalid));
  }
  std::vector<std::string> tokens;
  for (const std::string_view line : split(text, '\n')) {
    size_t end = line.size();
    for (size_t at = end; at > 0 && is_white_space(previous_code_point(line, at));) {
      end = at;
    }
    tokens.emplace_back(line.substr(0, end));
  }
  if (!tokens.empty() && tokens.back().empty()) {
    tokens.pop_back();
  }
  return tokens;
}

/// A special token's text in tokenizer_config.json: a string, or an object with its "content".
std::optional<std::string> find_token_text(const Json& config, std::string_view key,
                                           const std::string& file) {
  const auto found = config.find(key);
  if (found != config.end() && found->is_object()) {
    return require_string(*found, "content", file);
  }
  return find_string(config, key, file);
}

WordPiece read_vocabulary_and_config(const std::string& vocabulary_file, const std::string& file) {
  std::vector<std::string> tokens = read_vocabulary_lines(vocabulary_file);
  const Json config = parse_json(read_file(file, kFileLimitBytes), file);
  if (!config.is_object()) {
    fail(file, "found an {}, expected an object", config.type_name());
  }
  WordPieceOptions options;
  options.lowercase = find_bool(config, "do_lower_case", file).value_or(true);
  options.strip_accents = find_bool(config, "strip_accents", file);
  options.handle_chinese_chars = find_bool(config, "tokenize_chinese_chars", file).value_or(true);
  options.unknown = find_token_text(config, "unk_token", file).value_or(options.unknown);
  options.cls = find_token_text(config, "cls_token", file).value_or(options.cls);
  options.sep = find_token_text(config, "sep_token", file).value_or(options.sep);
  options.added_tokens = {{options.unknown}, {options.cls}, {options.sep}};
  for (const auto& [key, usual] : {std::pair("pad_token", "[PAD]"), {"mask_token", "[MASK]"}}) {
    const std::string token = find_token_text(config, key, file).value_or(usual);
    if (std::find(tokens.begin(), tokens.end(), token) != tokens.end()) {
      options.added_tokens.push_back({token});
    }
  }
  return {std::move(tokens), options, vocabulary_file};
}

bool is_there(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

}  // namespace

WordPiece WordPiece::from_directory(const std::string& directory) {
  const std::string tokenizer = directory + "/tokenizer.json";
  if (is_there(tokenizer)) {
    return read_tokenizer_json(tokenizer);
  }
  const std::string vocabulary = directory + "/vocab.txt";
  if (!is_there(vocabulary)) {
    throw BadFile(fill("[wordpiece.open] {}: holds neither tokenizer.json nor vocab.txt; name the "
                       "folder of a BERT model",
                       quote(directory, 400)),
                  directory, -1, FileFault::kInput);
  }
  return read_vocabulary_and_config(vocabulary, directory + "/tokenizer_config.json");
}

}  // namespace libtrain::format
