"""Size, traces of one machine, links and commands in what people read."""

import re
import subprocess
import unittest

import tree

LONGEST = 500
# What belongs to the machine a file was written on, not to the project.
TRACES = re.compile(
    r"/(?:root|home/\w+|work)/|/tmp/\w+/|\b(?:pypi\.org|pythonhosted\.org|deb\.debian\.org|localhost:\d+)|\bissue #\d+", re.IGNORECASE
)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
DEV_COMMAND = re.compile(r"\./dev ([a-z]+)")


class Files(unittest.TestCase):
    def test_no_file_is_longer_than_a_reader_can_hold(self):
        long = {
            tree.name(path): lines
            for path in tree.files(".hpp", ".cpp", ".cu", ".py", ".sh", ".cmake")
            if (lines := len(path.read_text().splitlines())) > LONGEST
        }
        self.assertEqual({}, long)

    def test_no_file_carries_traces_of_one_machine(self):
        found = [
            f"{tree.name(path)}:{number}: {match.group(0)}"
            for path in tree.files()
            if not path.is_relative_to(tree.ROOT / "tests")
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if (match := TRACES.search(line))
        ]
        self.assertEqual([], found)

    def test_links_between_pages_lead_somewhere(self):
        dead = [
            f"{tree.name(path)}: {target}"
            for path in tree.files(".md")
            for target in LINK.findall(path.read_text())
            if "://" not in target and not target.startswith("mailto:") and not (path.parent / target).exists()
        ]
        self.assertEqual([], dead)

    def test_every_dev_command_in_the_pages_exists(self):
        usage = subprocess.run([tree.ROOT / "dev"], capture_output=True, text=True, check=True).stdout
        verbs = set(DEV_COMMAND.findall(usage))
        self.assertIn("test", verbs)
        unknown = [
            f"{tree.name(path)}: ./dev {verb}"
            for path in tree.files(".md")
            for verb in DEV_COMMAND.findall(path.read_text())
            if verb not in verbs
        ]
        self.assertEqual([], unknown)


if __name__ == "__main__":
    unittest.main()
