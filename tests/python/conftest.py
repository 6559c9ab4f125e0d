"""Makes the package fasttrain of LIBTRAIN_BUILD_DIR importable; without one an installed one is tested."""

import importlib.util
import os
import pathlib
import sys

package = pathlib.Path(os.environ.get("LIBTRAIN_BUILD_DIR", "no build folder")) / "python"
if package.is_dir():
    sys.path.insert(0, str(package))
found = importlib.util.find_spec("fasttrain")
if found is None:
    collect_ignore_glob = ["test_fasttrain_*.py"]


def pytest_report_header():
    return f"fasttrain: {found.origin if found else 'not built, not tested'}"
