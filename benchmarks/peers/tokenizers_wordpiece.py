"""WordPiece by the tokenizers package, on one core: the whole list in one call, without offsets."""

import pathlib

import protocol
import tokenizers


def main():
    settings, channel = protocol.settings(), protocol.Channel()
    tokenizer = tokenizers.Tokenizer.from_file(settings["tokenizer"] + "/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.enable_truncation(settings["max_length"])
    lines = pathlib.Path(settings["texts"]).read_text().splitlines()
    texts = [line.split("\t", 1)[1] for line in lines]

    def verify(_):
        """Number of tokens, and a sum that depends on every id and its place."""
        encodings = [encoding.ids for encoding in tokenizer.encode_batch_fast(texts)]
        return [
            sum(map(len, encodings)),
            sum(
                identity * (place % 97 + 1)
                for ids in encodings
                for place, identity in enumerate(ids)
            ),
        ]

    def repeat(_):
        return [len(tokenizer.encode_batch_fast(texts))]

    channel.ready(["tokenizers"], {"parallelism": False})
    protocol.serve(channel, verify, repeat)


main()
