"""All rows, in the order of the table."""

from harness import bert_rows, part_rows, python_rows
from harness.row import Folders, Row, Sides


def all_rows(folders: Folders, bf16: bool) -> list[Row]:
    """`bf16`: whether this machine has it, for goals of what is left to each tool's defaults."""
    sides = Sides(folders)
    return [*bert_rows.rows(sides, bf16), *part_rows.rows(sides), *python_rows.rows(sides, bf16)]
