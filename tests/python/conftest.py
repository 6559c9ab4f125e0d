"""Makes the package fasttrain of LIBTRAIN_BUILD_DIR importable; its tests need it built."""

import os
import pathlib
import sys

package = pathlib.Path(os.environ.get("LIBTRAIN_BUILD_DIR", "no build folder")) / "python"
if package.is_dir():
    sys.path.insert(0, str(package))
else:
    collect_ignore_glob = ["test_fasttrain_*.py"]


def pytest_report_header():
    return f"fasttrain: {package if package.is_dir() else 'not built, not tested'}"
