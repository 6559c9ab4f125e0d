#include "libtrain/format/wordpiece.hpp"

#include <gmock/gmock.h>

#include <functional>

#include "libtrain/core/error.hpp"
#include "tests/unit/format/wordpiece_fixture.hpp"

namespace libtrain::format {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

template <class E>
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

TEST(WordPiece, LongestPiecesFirst) {
  const WordPieceText text("un unaff ##aff ##able ##a ##ble able");
  EXPECT_EQ(text.pieces("unaffable able"), "unaff ##able able");
}

TEST(WordPiece, WordWithoutPiecesIsUnknownAsAWhole) {
  const WordPieceText text("un ##able a");
  EXPECT_EQ(text.pieces("unablex a unable"), "[UNK] a un ##able");
}

TEST(WordPiece, ContinuationNeedsThePrefix) {
  const WordPieceText text("un able ##un");
  EXPECT_EQ(text.pieces("unable un"), "[UNK] un");
}

TEST(WordPiece, LowersCaseByTheFullMapping) {
  WordPieceOptions options;
  options.strip_accents = false;
  const WordPieceText text("hello äö i\u0307x όσοσ", options);
  EXPECT_EQ(text.pieces("HeLLo ÄÖ İX ΌΣΟΣ"), "hello äö i\u0307x όσοσ");
}

TEST(WordPiece, KeepsCaseAndAccentsWhenAsked) {
  WordPieceOptions options;
  options.lowercase = false;
  const WordPieceText text("Äh ah", options);
  EXPECT_EQ(text.pieces("Äh äh"), "Äh [UNK]");
}

TEST(WordPiece, StripsAccentsComposedOrNot) {
  const WordPieceText text("cafe kanto uber");
  EXPECT_EQ(text.pieces("café cafe\u0301 Kantō Über"), "cafe cafe kanto uber");
}

TEST(WordPiece, PutsKeptMarksInCanonicalOrder) {
  // Hangul tone marks (class 224) are spacing marks and stay; U+0344 (230) goes, U+1D165 is 216.
  const WordPieceText text("a\U0001D165\u302E");
  EXPECT_EQ(text.pieces("a\u302E\u0344\U0001D165"), "a\U0001D165\u302E");
}

TEST(WordPiece, ChineseCharactersStandAlone) {
  const WordPieceText text("東 京 a ##b かな");
  EXPECT_EQ(text.pieces("a東京ab かな"), "a 東 京 a ##b かな");
}

TEST(WordPiece, ChineseCharactersStayInWordsWhenAsked) {
  WordPieceOptions options;
  options.handle_chinese_chars = false;
  const WordPieceText text("東 京 東京", options);
  EXPECT_EQ(text.pieces("東京"), "東京");
}

TEST(WordPiece, PunctuationStandsAlone) {
  const WordPieceText text("don ' t . $ a — ^");
  EXPECT_EQ(text.pieces("don't...$a—a^"), "don ' t . . . $ a — a ^");
}

TEST(WordPiece, ControlCharactersVanishAndWhiteSpaceParts) {
  const WordPieceText text("ab a b");
  using namespace std::string_view_literals;
  EXPECT_EQ(text.pieces("a\0b a\u200Bb a\uFFFDb a\x07 b a\u00ADb"sv), "ab ab ab a b ab");
  EXPECT_EQ(text.pieces("a\tb\na\u3000b\u00A0a\u2028b"), "a b a b a b");
}

TEST(WordPiece, CharactersNewerThanThePackagesTablesAreNoMarksAndNoPunctuation) {
  // U+0898 (Unicode 14, Mn) and U+2E52 (Unicode 14, Po).
  const WordPieceText text("a\u0898b a\u2E52b");
  EXPECT_EQ(text.pieces("a\u0898b a\u2E52b"), "a\u0898b a\u2E52b");
}

TEST(WordPiece, LongWordsAreUnknownByCharactersNotBytes) {
  WordPieceOptions options;
  options.max_characters_per_word = 3;
  options.strip_accents = false;
  const WordPieceText text("a ##a é ##é", options);
  EXPECT_EQ(text.pieces("aaa aaaa ééé éééé"), "a ##a ##a [UNK] é ##é ##é [UNK]");
}

TEST(WordPiece, NoTextGivesTheSpecialTokensAlone) {
  const WordPieceText text("a");
  EXPECT_THAT(text.tokenizer().encode("", 512).ids, ElementsAre(2, 3));
  EXPECT_THAT(text.tokenizer().encode(" \t\u200B", 512).ids, ElementsAre(2, 3));
  EXPECT_THAT(text.tokenizer().encode("", "", 512).ids, ElementsAre(2, 3, 3));
}

TEST(WordPiece, SixHundredWordsAreCutToTheModelsLength) {
  const WordPieceText text("word");
  std::string words;
  for (int i = 0; i < 600; ++i) {
    words.append("word ");
  }
  EXPECT_EQ(text.tokenizer().encode(words, 1000).ids.size(), 602U);
  const Encoding cut = text.tokenizer().encode(words, 512);
  ASSERT_EQ(cut.ids.size(), 512U);
  EXPECT_EQ(cut.ids.front(), 2);
  EXPECT_EQ(cut.ids[510], 5);
  EXPECT_EQ(cut.ids.back(), 3);
}

TEST(WordPiece, PairsCarryTypeIds) {
  const WordPieceText text("a b c");
  const Encoding pair = text.tokenizer().encode("a b", "c", 512);
  EXPECT_EQ(text.text_of(pair.ids), "[CLS] a b [SEP] c [SEP]");
  EXPECT_THAT(pair.type_ids, ElementsAre(0, 0, 0, 0, 1, 1));
}

struct Cut {
  std::string first, second;
  int64_t max_length;
  std::string expected;
};

class WordPieceTruncation : public testing::TestWithParam<Cut> {};

TEST_P(WordPieceTruncation, LongestFirst) {
  const WordPieceText text("a b");
  const Encoding pair =
      text.tokenizer().encode(GetParam().first, GetParam().second, GetParam().max_length);
  EXPECT_EQ(text.text_of(pair.ids), GetParam().expected);
  EXPECT_EQ(pair.type_ids.size(), pair.ids.size());
}

INSTANTIATE_TEST_SUITE_P(All, WordPieceTruncation,
                         testing::Values(Cut{"a a a a", "b", 6, "[CLS] a a [SEP] b [SEP]"},
                                         Cut{"a", "b b b b", 6, "[CLS] a [SEP] b b [SEP]"},
                                         Cut{"a a a a", "b b b b", 7, "[CLS] a a [SEP] b b [SEP]"},
                                         Cut{"a a a a", "b b b b", 6, "[CLS] a [SEP] b b [SEP]"},
                                         Cut{"a a a a a", "b b b b", 6, "[CLS] a a [SEP] b [SEP]"},
                                         Cut{"a a a", "b b", 8, "[CLS] a a a [SEP] b b [SEP]"},
                                         Cut{"a", "b", 3, "[CLS] [SEP] [SEP]"},
                                         Cut{"a a a a a a a a", "b b b b b b", 6,
                                             "[CLS] a a [SEP] b [SEP]"}));

TEST(WordPiece, NoRoomForSpecialTokensIsAnError) {
  const WordPieceText text("a");
  EXPECT_THAT(text.tokenizer().encode("a", 2).ids, ElementsAre(2, 3));
  EXPECT_THAT(message_of<InvalidOption>([&] { text.tokenizer().encode("a", 1); }),
              HasSubstr("max_length=1, expected 2 or more"));
  EXPECT_THAT(message_of<InvalidOption>([&] { text.tokenizer().encode("a", "a", -5); }),
              HasSubstr("max_length=-5, expected 3 or more"));
}

TEST(WordPiece, InvalidUtf8IsNamedWithItsOffset) {
  const WordPieceText text("a");
  const std::string long_text(1000, 'a');
  for (const char* bad :
       {"\xFF", "\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE4\xB8", "\xF0\x9F\x98"}) {
    EXPECT_THAT(
        message_of<InvalidOption>([&] { text.tokenizer().encode(long_text + bad, 512); }),
        AllOf(HasSubstr("[wordpiece.encode] the text is not UTF-8"), HasSubstr("offset=1000")));
  }
  EXPECT_THAT(message_of<InvalidOption>([&] { text.tokenizer().encode("é", "aé\xC3x", 512); }),
              AllOf(HasSubstr("the second text"), HasSubstr("offset=3, size=5")));
}

TEST(WordPiece, KnowsItsIds) {
  WordPieceOptions options;
  options.added_tokens.push_back({"<new>"});
  const WordPieceText text("a b", options);
  EXPECT_EQ(text.tokenizer().size(), 8);
  EXPECT_EQ(text.tokenizer().id("[MASK]"), 4);
  EXPECT_EQ(text.tokenizer().id("b"), 6);
  EXPECT_EQ(text.tokenizer().id("<new>"), 7);
  EXPECT_EQ(text.tokenizer().id("c"), std::nullopt);
  EXPECT_EQ(text.tokenizer().id(""), std::nullopt);
}

TEST(WordPiece, RefusesAVocabularyItCannotUse) {
  const auto open = [](std::vector<std::string> tokens, const WordPieceOptions& options = {}) {
    return message_of<BadFile>([&] { WordPiece(std::move(tokens), options, "my/vocab.txt"); });
  };
  EXPECT_THAT(open(WordPieceText::vocabulary("a b a")),
              AllOf(HasSubstr("my/vocab.txt"), HasSubstr("token=\"a\", ids=5 and 7")));
  EXPECT_THAT(open(WordPieceText::vocabulary("a \xFF")),
              HasSubstr("not UTF-8: token=\"\\xff\", id=6"));
  EXPECT_THAT(open({"[CLS]", "[SEP]"}), HasSubstr("lacks the unknown token: token=\"[UNK]\""));
  EXPECT_THAT(open({}), HasSubstr("lacks the unknown token"));
  WordPieceOptions options;
  options.sep = "</s>";
  EXPECT_THAT(open(WordPieceText::vocabulary(""), options),
              HasSubstr("lacks a special token: token=\"</s>\""));
  WordPieceOptions negative;
  negative.max_characters_per_word = -1;
  EXPECT_THAT(message_of<InvalidOption>(
                  [&] { WordPiece(WordPieceText::vocabulary(""), negative, "my/vocab.txt"); }),
              HasSubstr("max_characters_per_word=-1, expected >= 0"));
}

}  // namespace
}  // namespace libtrain::format
