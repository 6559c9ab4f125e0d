# The tests, and what --full adds to them.

# ctest_with PRESET [CTEST_OPTION...]: its results join those that report_counts sums.
# A failure is kept for the end, so that one run shows them all.
failed_steps=()
ctest_with() {
  local preset=$1 start=$SECONDS
  shift
  printf '==> test %s\n' "$preset"
  mkdir -p build/results
  ctest --preset "$preset" --output-junit "$PWD/build/results/$preset.xml" "$@" || failed_steps+=("ctest $preset")
  printf '    test %s: %d s\n' "$preset" $((SECONDS - start))
}

pytest_release() {
  printf '==> pytest\n'
  "$python" -m pytest -q tests/python --junitxml build/results/pytest.xml || failed_steps+=(pytest)
}

run_tests() {
  case ${1:-} in
    '') ;;
    --full) require_disk 20 ;;
    *) fail "test takes --full or nothing, got: $*" ;;
  esac
  build_release
  rm -rf build/results
  ctest_with release -j "$(nproc)"
  [[ -z $(find tests/python -name 'test_*.py' -print -quit 2>/dev/null) ]] || pytest_release
  [[ ${1:-} != --full ]] || run_full
  "$python" tools/count_tests.py build/results
  ((${#failed_steps[@]} == 0)) || fail "failed: ${failed_steps[*]}"
}

run_lint() {
  set_up_system "$full_needs"
  configure_and_build tidy
}
run_full() { :; }
