#include <gmock/gmock.h>

#include "libtrain/core/error.hpp"
#include "tests/unit/format/wordpiece_fixture.hpp"

namespace libtrain::format {
namespace {

WordPieceOptions with(std::vector<AddedToken> tokens) {
  WordPieceOptions options;
  options.added_tokens.insert(options.added_tokens.end(), tokens.begin(), tokens.end());
  return options;
}

TEST(WordPieceAddedTokens, AreFoundAnywhereAsWritten) {
  const WordPieceText text("a b [ ] mask");
  EXPECT_EQ(text.pieces("a[MASK]b [SEP][CLS]"), "a [MASK] b [SEP] [CLS]");
  EXPECT_EQ(text.pieces("[mask] [MASK"), "[ mask ] [ mask");
}

TEST(WordPieceAddedTokens, TheLongestWins) {
  const WordPieceText text("< >", with({{"<a"}, {"<a>"}, {"a>b"}}));
  EXPECT_EQ(text.pieces("<a>b<a"), "id 8 [UNK] id 7");
}

TEST(WordPieceAddedTokens, MayTakeTheWhiteSpaceAround) {
  WordPieceOptions options =
      with({{.text = "<l>", .lstrip = true}, {.text = "<r>", .rstrip = true}});
  options.clean_text = false;  // else white space leaves no trace
  const WordPieceText text("a", options);
  EXPECT_EQ(text.pieces("a \u3000<l> a <r> \t a"), "a id 6 a id 7 a");
}

TEST(WordPieceAddedTokens, TakenWhiteSpaceIsNotTakenTwice) {
  const WordPieceText text("a", with({{.text = "<r>", .rstrip = true}, {.text = "  "}}));
  EXPECT_EQ(text.pieces("<r>  a"), "id 6 id 7 a");
}

TEST(WordPieceAddedTokens, SingleWordsTouchNoWordCharacter) {
  const WordPieceText text("x é . - ##x", with({{.text = "tok", .single_word = true}}));
  EXPECT_EQ(text.pieces("tok x-tok. (tok)"), "id 10 x - id 10 . [UNK] id 10 [UNK]");
  EXPECT_EQ(text.pieces("xtok tokx étok tok\u0301 tok_"), "[UNK] [UNK] [UNK] [UNK] [UNK] [UNK]");
}

TEST(WordPieceAddedTokens, NormalizedOnesAreFoundInTheNormalForm) {
  const WordPieceText text("a", with({{.text = "New Yörk", .normalized = true}}));
  EXPECT_EQ(text.pieces("a NEW\tYORK a new yo\u0308rk"), "a id 6 a id 6");
}

TEST(WordPieceAddedTokens, MakeNoWordOfTheVocabulary) {
  const WordPieceText text("x", with({{.text = "tok", .single_word = true}}));
  EXPECT_EQ(text.pieces("tok to\u200Bk"), "id 6 [UNK]");
}

TEST(WordPieceAddedTokens, RefusesWhatCannotBeFound) {
  const auto open = [](const AddedToken& token) {
    EXPECT_THROW(WordPieceText("a", with({token})), BadFile) << token.text;
  };
  open({""});
  open({"[MASK]"});
  open({"\xFF"});
  open({.text = "\u0301", .normalized = true});
  EXPECT_THROW(WordPieceText("a", with({{.text = "Ab", .normalized = true},
                                        {.text = "aB", .normalized = true}})),
               BadFile);
}

}  // namespace
}  // namespace libtrain::format
