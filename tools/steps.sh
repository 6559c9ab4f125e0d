# Long steps: a line before each starts, its time after it, its output in a log.

logs=build/logs

fail() {
  printf 'dev: %s\n' "$*" >&2
  exit 1
}

# step NAME COMMAND...: runs COMMAND, which must not need a terminal. On failure: the end of the log and its place.
step() {
  local name=$1 log=$logs/${1//[^A-Za-z0-9.]/-}.log start=$SECONDS
  shift
  mkdir -p "$logs"
  printf '==> %s\n' "$name"
  if "$@" >"$log" 2>&1 </dev/null; then
    printf '    %s: %d s\n' "$name" $((SECONDS - start))
  else
    printf '    %s: FAILED after %d s; the end of %s:\n' "$name" $((SECONDS - start)) "$log" >&2
    tail -n 60 "$log" >&2
    fail "$name failed; the whole output is in $log"
  fi
}

# One job a CPU, as far as the memory goes: a file that includes LibTorch takes up to 2 GB to compile.
jobs_that_fit() {
  local cpus memory_kb limit
  cpus=$(nproc)
  memory_kb=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
  if [[ $limit != max ]] && ((limit / 1024 < memory_kb)); then memory_kb=$((limit / 1024)); fi
  local by_memory=$((memory_kb / (2 * 1024 * 1024)))
  echo $((by_memory < 1 ? 1 : by_memory < cpus ? by_memory : cpus))
}
