# The benchmarks: docs/benchmarks.md is written by a whole run.

bench_needs="
header benchmark/benchmark.h libbenchmark-dev
program valgrind valgrind
"

# Sets `python` to one that has the tools we compare with.
set_up_peers() {
  has_requirements "$python" requirements/bench.txt && return
  if [[ $python != "$PWD/.venv/bin/python" ]]; then  # the user's own Python stays as it is
    make_venv build/venv-bench "$(torch_version "$python")" requirements/test.txt requirements/bench.txt
    python=$PWD/build/venv-bench/bin/python
    return
  fi
  step 'pip install the tools we compare with' "$python" -m pip install --no-cache-dir --requirement=requirements/bench.txt
}

run_benchmarks() {
  local rows
  rows=$(python3 benchmarks/run.py --list "$@") || exit 2  # wrong arguments end here, before anything is built
  case " $* " in
    *' --list '* | *' --help '* | *' -h '*)
      echo "$rows"
      return
      ;;
  esac
  set_up
  require_disk 10  # the largest files, in several copies
  set_up_system "$bench_needs"
  set_up_peers
  configure_and_build release "-DPython3_EXECUTABLE=$python" -DLIBTRAIN_BENCHMARKS=ON
  "$python" benchmarks/run.py "$@"
  (($# > 0)) || "$python" benchmarks/instructions.py
}
