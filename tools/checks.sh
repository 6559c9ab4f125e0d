# The tests, and what --full adds to them.

failed_steps=()

# ctest_with PRESET [CTEST_OPTION...]: a failure is kept for the end, so that one run shows them all.
ctest_with() {
  local preset=$1 start=$SECONDS
  shift
  printf '==> test %s\n' "$preset"
  ctest --preset "$preset" --output-junit "$PWD/build/results/$preset.xml" "$@" || failed_steps+=("test $preset")
  printf '    test %s: %d s\n' "$preset" $((SECONDS - start))
}

# The same for a step, which would end the run.
step_on() { (step "$@") || failed_steps+=("$1"); }

# pytest_with PRESET PYTHON TESTS...
pytest_with() {
  local preset=$1 runner=$2
  shift 2
  step_on "pytest $preset" env LIBTRAIN_BUILD_DIR="$PWD/build/$preset" \
    "$runner" -m pytest -q "$@" -n "$(jobs_that_fit)" --dist loadfile -p no:cacheprovider --timeout 300 \
    --junitxml "build/results/pytest-$preset.xml"
}

run_tests() {
  case $* in
    '' | --full) ;;
    *) fail "test takes --full or nothing, got: $*" ;;
  esac
  build_release
  rm -rf build/results
  mkdir -p build/results
  ctest_with release -j "$(nproc)"
  pytest_with release "$python" tests/python
  [[ $* != --full ]] || run_full
  "$python" tools/count_tests.py build/results
  ((${#failed_steps[@]} == 0)) || fail "failed: ${failed_steps[*]}"
}

run_full() {
  run_lint
  set_up_libfuzzer
  local preset
  for preset in asan tsan; do
    configure_and_build "$preset"
    ctest_with "$preset" -j "$(nproc)"
  done
  run_oldest_torch
  ctest_with release-full
}

torch_free_sources() { git ls-files 'libtrain/*.cpp' | grep -E '^libtrain/(core|facts|probe|plan|policy|format|doctor|cli)/'; }

check_format() {
  local version
  version=$(clang-format --version | grep -oE 'version [0-9]+')
  if [[ $version != 'version 14' ]]; then
    echo "clang-format has $version; formatting is checked by 14 alone, since versions differ"
    return
  fi
  git ls-files '*.hpp' '*.cpp' | xargs clang-format --dry-run -Werror
}

check_tidy() { torch_free_sources | xargs -P "$(jobs_that_fit)" -n 1 clang-tidy --quiet -p build/lint; }

run_lint() {
  set_up_system "$full_needs"
  configure lint
  step_on clang-format check_format
  step_on clang-tidy check_tidy
}

run_oldest_torch() {
  local folder=build/venv-torch-2.11 stamp
  stamp=$(stamp_of requirements/torch-2.11.txt)
  if [[ $(cat "$folder/libtrain-stamp" 2>/dev/null) != "$stamp" ]]; then
    make_venv "$folder" '' requirements/torch-2.11.txt
    echo "$stamp" >"$folder/libtrain-stamp"
  fi
  configure_and_build torch-2.11
  ctest_with torch-2.11
  pytest_with torch-2.11 "$folder/bin/python" tests/python/test_fasttrain_*.py
}
