#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "libtrain/core/error.hpp"
#include "libtrain/core/file_system.hpp"
#include "libtrain/format/json.hpp"
#include "tests/unit/format/wordpiece_fixture.hpp"

namespace libtrain::format {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kData = LIBTRAIN_TEST_DATA "/data/wordpiece";

class WordPieceFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "wordpiece_files_" + to_text(static_cast<int64_t>(getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, std::string_view text) const {
    write_file_atomically(folder_ + "/" + name, text);
  }

  /// What is said of the good tokenizer.json after `change`.
  template <class E = BadFile>
  std::string message_after(const std::function<void(Json&)>& change) const {
    const std::string good = kData + "/tokenizer_json/tokenizer.json";
    Json json = parse_json(read_file(good), good);
    change(json);
    write("tokenizer.json", json.dump());
    return message<E>();
  }

  template <class E = BadFile>
  std::string message() const {
    try {
      WordPiece::from_directory(folder_);
    } catch (const E& error) {
      EXPECT_THAT(error.what(), HasSubstr(folder_));
      return error.what();
    }
    return "no error";
  }

  std::string folder_;
};

TEST_F(WordPieceFiles, BothFormsGiveOneTokenizer) {
  const auto json = WordPiece::from_directory(kData + "/tokenizer_json");
  const auto txt = WordPiece::from_directory(kData + "/vocab_txt");
  EXPECT_EQ(json.size(), txt.size());
  for (const char* text : {"Unaffable [MASK] cafés, 東京 мир!", "train 12 tokens: words", "☃ é"}) {
    EXPECT_EQ(json.encode(text, "text", 512).ids, txt.encode(text, "text", 512).ids) << text;
  }
  EXPECT_EQ(json.encode("[MASK] unaffable", 512).ids,
            (std::vector<int32_t>{2, 4, *json.id("un"), *json.id("##aff"), *json.id("##able"), 3}));
}

TEST_F(WordPieceFiles, TokenizerJsonComesFirst) {
  write("vocab.txt", "nothing of use");
  EXPECT_EQ(message_after([](Json& /*unchanged*/) {}), "no error");
}

TEST_F(WordPieceFiles, OptionsAreRead) {
  message_after([](Json& json) {
    json["normalizer"]["lowercase"] = false;
    json["model"]["continuing_subword_prefix"] = "text";
    json["model"]["max_input_chars_per_word"] = 8;
    const Json& vocabulary = json["model"]["vocab"];
    json["post_processor"] = {{"type", "BertProcessing"},
                              {"sep", {"y", vocabulary["y"]}},
                              {"cls", {"x", vocabulary["x"]}}};
  });
  const auto tokenizer = WordPiece::from_directory(folder_);
  EXPECT_EQ(tokenizer.encode("Text model modelmodel texttext", 512).ids,
            (std::vector<int32_t>{*tokenizer.id("x"), 1, *tokenizer.id("model"), 1, 1,
                                  *tokenizer.id("y")}));
}

TEST_F(WordPieceFiles, AnotherKindOfTokenizerIsUnsupported) {
  const auto expect = [&](const std::function<void(Json&)>& change, const std::string& what) {
    EXPECT_THAT(message_after<Unsupported>(change), HasSubstr(what));
  };
  expect([](Json& json) { json["model"]["type"] = "BPE"; },
         "model.type=\"BPE\", expected WordPiece");
  expect([](Json& json) { json["normalizer"] = nullptr; },
         "normalizer.type=\"none\", expected BertNormalizer");
  expect([](Json& json) { json["pre_tokenizer"]["type"] = "Whitespace"; },
         "pre_tokenizer.type=\"Whitespace\", expected BertPreTokenizer");
  expect([](Json& json) { json.erase("post_processor"); }, "post_processor.type=\"none\"");
  expect([](Json& json) { json["post_processor"]["pair"].erase(3); },
         "pair=\"[CLS]:0 $A:0 [SEP]:0 [SEP]:1\"");
  expect([](Json& json) { json["post_processor"]["single"].clear(); }, "single=\"\"");
}

TEST_F(WordPieceFiles, MalformedTokenizerJsonSaysWhereAndWhat) {
  const auto expect = [&](const std::function<void(Json&)>& change, const std::string& what) {
    EXPECT_THAT(message_after(change), HasSubstr(what));
  };
  expect([](Json& json) { json = 3; }, "expected an object");
  expect([](Json& json) { json["model"].erase("unk_token"); }, "unk_token");
  expect([](Json& json) { json["model"]["unk_token"] = "<unk>"; }, "token=\"<unk>\"");
  expect([](Json& json) { json["model"]["max_input_chars_per_word"] = -1; },
         "max_input_chars_per_word=-1");
  expect([](Json& json) { json["model"]["vocab"] = Json::array(); },
         "key=\"vocab\": found array, expected an object");
  expect([](Json& json) { json["model"]["vocab"]["a"] = 1; }, "token=\"a\" has id=\"1\"");
  expect([](Json& json) { json["model"]["vocab"]["a"] = -1; }, "token=\"a\" has id=\"-1\"");
  expect([](Json& json) { json["model"]["vocab"]["a"] = 1.0; }, "token=\"a\" has id=\"1.0\"");
  expect([](Json& json) { json["model"]["vocab"]["a"] = 100000; }, "token=\"a\" has id=\"100000\"");
  expect([](Json& json) { json["model"]["vocab"] = Json::object(); }, "lacks");
  expect([](Json& json) { json["added_tokens"][1]["id"] = 7; },
         "token=\"[UNK]\" is given id=7, but the vocabulary makes it 1");
  expect([](Json& json) { json["added_tokens"][1].erase("lstrip"); }, "lstrip");
  expect([](Json& json) { json["added_tokens"][1] = 5; }, "content");
  expect([](Json& json) { json["added_tokens"] = nullptr; }, "added_tokens");
  expect([](Json& json) { json["normalizer"]["lowercase"] = "yes"; }, "lowercase");
  expect(
      [](Json& json) {
        json["post_processor"]["special_tokens"]["[SEP]"]["ids"] = {3, 3};
      },
      "expected one id");
  expect([](Json& json) { json["post_processor"]["special_tokens"]["[SEP]"]["ids"] = {9}; },
         "token=\"[SEP]\" is given id=9");
  expect([](Json& json) { json["post_processor"]["single"][1] = 9; }, "Sequence");
  expect([](Json& json) { json["post_processor"] = {{"type", "BertProcessing"}}; }, "cls");
}

TEST_F(WordPieceFiles, EveryCutOfAFileIsRefused) {
  const std::string good = kData + "/tokenizer_json/tokenizer.json";
  const std::string text = read_file(good);
  for (size_t size = 0; size + 2 < text.size(); size += 97) {
    write("tokenizer.json", std::string_view(text).substr(0, size));
    EXPECT_NE(message(), "no error") << size;
  }
}

TEST_F(WordPieceFiles, VocabularyListMayEndItsLinesAsWindowsDoes) {
  write("vocab.txt", "[UNK]\r\n[CLS]\r\n[SEP]\r\nword \r\n");
  write("tokenizer_config.json", "{}");
  const auto tokenizer = WordPiece::from_directory(folder_);
  EXPECT_EQ(tokenizer.size(), 4);
  EXPECT_EQ(tokenizer.encode("WORD [MASK]", 512).ids, (std::vector<int32_t>{1, 3, 0, 0, 0, 2}));
}

TEST_F(WordPieceFiles, TokenizerConfigIsRead) {
  write("vocab.txt", "<u>\n<s>\n</s>\nWort\nwörter\n<m>\n");
  write("tokenizer_config.json",
        R"({"do_lower_case": false, "strip_accents": false, "unk_token": "<u>",
            "cls_token": {"content": "<s>"}, "sep_token": "</s>", "mask_token": "<m>"})");
  const auto tokenizer = WordPiece::from_directory(folder_);
  EXPECT_EQ(tokenizer.encode("Wort<m> wörter wort", 512).ids,
            (std::vector<int32_t>{1, 3, 5, 4, 0, 2}));
}

TEST_F(WordPieceFiles, MalformedVocabularyListSaysWhereAndWhat) {
  EXPECT_THAT(message(), HasSubstr("holds neither tokenizer.json nor vocab.txt"));
  write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\n");
  EXPECT_THAT(message(), HasSubstr("tokenizer_config.json"));
  write("tokenizer_config.json", R"({"do_lower_case": 1})");
  EXPECT_THAT(message(), HasSubstr("do_lower_case"));
  write("tokenizer_config.json", "[]");
  EXPECT_THAT(message(), HasSubstr("expected an object"));
  write("tokenizer_config.json", "{}");
  EXPECT_EQ(message(), "no error");
  write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\nb\na\n");
  EXPECT_THAT(message(), AllOf(HasSubstr("stands twice"), HasSubstr("ids=3 and 5")));
  write("vocab.txt", "[UNK]\n\xC3\n[SEP]\n");
  EXPECT_THAT(message(), HasSubstr("not UTF-8: offset=6"));
  write("vocab.txt", "");
  EXPECT_THAT(message(), HasSubstr("lacks the unknown token"));
}

}  // namespace
}  // namespace libtrain::format
