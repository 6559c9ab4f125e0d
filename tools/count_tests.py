"""Sums the JUnit files of a folder into one line: N passed, N failed, N skipped."""

import pathlib
import sys
import xml.etree.ElementTree as xml


def count(path: pathlib.Path) -> tuple[int, int, int]:
    cases = list(xml.parse(path).iter("testcase"))
    failed = sum(any(c.find(t) is not None for t in ("failure", "error")) for c in cases)
    skipped = sum(c.find("skipped") is not None for c in cases)
    return len(cases) - failed - skipped, failed, skipped


passed, failed, skipped = map(sum, zip(*map(count, sorted(pathlib.Path(sys.argv[1]).glob("*.xml")))))
print(f"{passed} passed, {failed} failed, {skipped} skipped")
