#!/usr/bin/env python3
"""Makes the WordNet-45 task: predict a gloss's lexicographer class from its text.

Reads the data files of WordNet 3.0 (Debian package wordnet-base) and writes train.tsv and test.tsv with
lines `label<TAB>gloss`. A gloss is the definition alone: quoted usage examples are left out. A synset is
in the test split when SHA-256 of its type and offset ("n00001740") is divisible by 10.
"""

import argparse
import hashlib
import os
import pathlib
import random
import sys

# lexnames(5WN): file number -> name.
LEXICOGRAPHER_FILES = (
    "adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body "
    "noun.cognition noun.communication noun.event noun.feeling noun.food noun.group noun.location "
    "noun.motive noun.object noun.person noun.phenomenon noun.plant noun.possession noun.process "
    "noun.quantity noun.relation noun.shape noun.state noun.substance noun.time verb.body verb.change "
    "verb.cognition verb.communication verb.competition verb.consumption verb.contact verb.creation "
    "verb.emotion verb.motion verb.perception verb.possession verb.social verb.stative verb.weather "
    "adj.ppl"
).split()
PARTS_OF_SPEECH = ("noun", "verb", "adj", "adv")


def read_glosses(folder):
    """Yields (synset key, class name, gloss) in file order."""
    for part in PARTS_OF_SPEECH:
        with open(folder / f"data.{part}", encoding="latin-1") as lines:
            for line in lines:
                if line.startswith("  "):  # the licence on top of each file
                    continue
                head, gloss = line.split("|", 1)
                offset, file_number, synset_type = head.split()[:3]
                text = gloss.split('"')[0].strip().rstrip("; ").strip().replace("\t", " ")
                if text:
                    yield synset_type + offset, LEXICOGRAPHER_FILES[int(file_number)], text


def is_test(key):
    return int(hashlib.sha256(key.encode()).hexdigest(), 16) % 10 == 0


def write_tsv(path, rows):
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with open(temporary, "w", encoding="utf-8") as out:
        out.writelines(f"{label}\t{text}\n" for label, text in rows)
    os.replace(temporary, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--wordnet", type=pathlib.Path, default=pathlib.Path("/usr/share/wordnet"),
                        help="folder with data.noun, data.verb, data.adj, data.adv")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the two files")
    parser.add_argument("--train-count", type=int, help="train on this many random glosses, not all")
    parser.add_argument("--seed", type=int, default=0, help="of the choice of training glosses")
    arguments = parser.parse_args()

    try:
        splits = {"train": [], "test": []}
        for key, label, text in read_glosses(arguments.wordnet):
            splits["test" if is_test(key) else "train"].append((label, text))
    except FileNotFoundError as error:
        sys.exit(f"wordnet45: {error.filename} is missing; install wordnet-base or name its folder "
                 "with --wordnet")
    if arguments.train_count is not None:
        if not 0 < arguments.train_count <= len(splits["train"]):
            sys.exit(f"wordnet45: --train-count {arguments.train_count}, expected 1 to "
                     f"{len(splits['train'])}")
        splits["train"] = random.Random(arguments.seed).sample(splits["train"], arguments.train_count)

    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, rows in splits.items():
        write_tsv(arguments.out / f"{name}.tsv", rows)
        print(f"{arguments.out / name}.tsv: {len(rows):,} glosses, "
              f"{len({label for label, _ in rows})} classes")


if __name__ == "__main__":
    main()
