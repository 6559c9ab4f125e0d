# Sets up what a build needs, each stage only when something is missing:
# disk space, system packages, a Python with torch and the test requirements.

# Each line: what to look for (a program, a C++ header or a file), and the Debian and Ubuntu package that brings it.
build_needs="
program cmake cmake
program ninja ninja-build
program git git
header fmt/format.h libfmt-dev
header nlohmann/json.hpp nlohmann-json3-dev
header CLI/CLI.hpp libcli11-dev
header utf8proc.h libutf8proc-dev
header gtest/gtest.h libgtest-dev
header gmock/gmock.h libgmock-dev
header rapidcheck.h librapidcheck-dev
file /usr/share/wordnet/data.noun wordnet-base
"
full_needs="
program clang++ clang
program clang-format clang-format
program clang-tidy clang-tidy
"

require_disk() {
  local need=$1 free
  free=$(($(df -Pk . | awk 'NR == 2 {print $4}') / 1024 / 1024))
  ((free >= need)) || fail "not enough disk space: free=$free GB, need=$need GB in $PWD (LibTorch alone takes 5.4); free some and run again"
}

has_need() {
  case $1 in
    program) command -v "$2" >/dev/null ;;
    file) [[ -e $2 ]] ;;
    header) "${CXX:-c++}" -std=c++17 -E -include "$2" -x c++ /dev/null >/dev/null 2>&1 ;;
  esac
}

has_python_headers() {
  [[ -e $(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h ]]
}

missing_packages() {
  local kind what package
  command -v "${CXX:-c++}" >/dev/null || echo g++
  python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
  has_python_headers || echo python3-dev
  while read -r kind what package; do
    [[ -z $kind ]] || has_need "$kind" "$what" || echo "$package"
  done <<<"$1"
}

install_packages() {
  local packages=("$@") sudo=()
  command -v apt-get >/dev/null ||
    fail "missing: ${packages[*]} (Debian's names); install what brings them here and run again"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "missing: ${packages[*]}; as root: apt-get install ${packages[*]}"
    sudo=(sudo)
  fi
  printf 'System packages to install: %s\n' "${packages[*]}"
  step 'apt-get update' "${sudo[@]}" apt-get update
  step 'apt-get install' "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${packages[@]}"
}

require_version() {
  local what=$1 found=$2 least=$3
  [[ $(printf '%s\n' "$least" "$found" | sort -V | head -n 1) == "$least" ]] ||
    fail "$what is too old: found=$found, expected at least $least; ${4:-install a newer one}"
}

set_up_system() {
  local packages
  mapfile -t packages < <(missing_packages "$1")
  ((${#packages[@]} == 0)) || install_packages "${packages[@]}"
  local compiler=${CXX:-c++}
  if "$compiler" --version | grep -qi 'free software foundation'; then
    require_version "$compiler" "$("$compiler" -dumpfullversion)" 12 'install g++-12 and set CXX=g++-12'
  fi
  require_version cmake "$(cmake --version | awk 'NR == 1 {print $3}')" 3.25 'pip install cmake'
}

# libFuzzer lies in a package of its own, named after clang's version.
set_up_libfuzzer() {
  local probe='extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' version
  mkdir -p build
  clang++ -fsanitize=fuzzer -x c++ - -o build/libfuzzer_probe <<<"$probe" 2>/dev/null && return
  version=$(clang++ -dumpversion)
  install_packages "libclang-rt-${version%%.*}-dev"
}

# Prints the version of that Python's torch if it is one that is supported. CMake sees whether it can be imported.
torch_version() {
  "$1" - 2>/dev/null <<'PY'
import importlib.metadata
version = importlib.metadata.version("torch")
major, minor = map(int, version.split(".")[:2])
if not (2, 11) <= (major, minor) <= (2, 15):
    raise SystemExit(1)
print(version)
PY
}

has_requirements() {
  "$1" - "$2" 2>/dev/null <<'PY'
import importlib.metadata, sys
for line in open(sys.argv[1]):
    name, _, version = line.partition("#")[0].strip().partition("==")
    if name and importlib.metadata.version(name) != version:
        raise SystemExit(1)
PY
}

stamp_of() { cat "$@" | sha256sum | cut -d ' ' -f 1; }

# A virtual environment of our own; with torch from the active Python where that has one.
make_venv() {
  local folder=$1 version=$2
  shift 2
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "python3 is too old: found=$(python3 -V | cut -d ' ' -f 2), expected at least 3.11 (torch 2.15 needs it)"
  local options=() constraint=() cache=(--no-cache-dir) link
  [[ -n $version ]] || require_disk 9
  if [[ -n $version ]]; then
    options=(--system-site-packages)
    echo "torch==$version" >build/torch-constraint.txt
    constraint=(--constraint=build/torch-constraint.txt)
  fi
  [[ -x $folder/bin/python ]] || step "python -m venv $folder" python3 -m venv "${options[@]}" "$folder"
  # The active Python may itself be a virtual environment, which --system-site-packages does not see.
  link=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/active_torch.pth
  rm -f "$link"
  [[ -z $version ]] ||
    python3 -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))' >"$link"
  # pip's download cache lies outside this folder: only where the user chose its place.
  [[ -z ${PIP_CACHE_DIR:-} ]] || cache=()
  mkdir -p build/tmp
  step "pip install into $folder" env TMPDIR="$PWD/build/tmp" "$folder/bin/python" -m pip install \
    --no-compile "${cache[@]}" "${constraint[@]}" "${@/#/--requirement=}"
  rm -rf build/tmp
}

# Sets `python`: one with torch 2.11 to 2.15 and the test requirements.
set_up_python() {
  local version stamp
  version=$(torch_version python3 || true)
  if [[ -n $version ]] && has_requirements python3 requirements/test.txt; then
    python=$(python3 -c 'import sys; print(sys.executable)')
    return
  fi
  local files=(requirements/test.txt)
  [[ -n $version ]] || files+=(requirements/torch.txt)
  python=$PWD/.venv/bin/python
  stamp=$(stamp_of "${files[@]}" - <<<"$version $(python3 -V)")
  [[ -x $python && $(cat .venv/libtrain-stamp 2>/dev/null) == "$stamp" ]] && return
  make_venv .venv "$version" "${files[@]}"
  echo "$stamp" >.venv/libtrain-stamp
}
