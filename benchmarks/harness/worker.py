"""The controller's end of a worker: benchmarks/peers/protocol.py says what goes over the pipe."""

import dataclasses
import json
import os
import pathlib
import select
import subprocess
import time


class WorkerError(RuntimeError):
    """A worker that died, was silent too long, or said something else than the protocol allows."""


@dataclasses.dataclass(frozen=True)
class Measurement:
    seconds: float
    values: list[float]
    peak_mb: float


class Worker:
    """A started worker. What it prints beside the protocol goes to `log`."""

    def __init__(self, name: str, command: list[str], log: pathlib.Path, timeout: float):
        self.name = name
        self._log = log
        self._timeout = timeout
        self._rest = b""
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "wb") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )
        try:
            hello = self._read()
            if hello.get("ready") is not True:
                raise self._error(f"said {json.dumps(hello)[:200]} instead of that it is ready")
        except BaseException:
            self.stop()
            raise
        self.versions: dict[str, str] = hello.get("versions", {})
        self.flags: dict[str, object] = hello.get("flags", {})

    @property
    def pid(self) -> int:
        return self._process.pid

    def verify(self, steps: int) -> list[float]:
        return self._numbers(self._ask({"verify": steps}), "values")

    def repeat(self, number: int) -> Measurement:
        answer = self._ask({"repeat": number})
        (seconds,), (peak_mb,) = (
            self._numbers({key: [answer.get(key)]}, key) for key in ("seconds", "peak_mb")
        )
        if not seconds > 0:
            raise self._error(f"measured {seconds} seconds")
        return Measurement(seconds, self._numbers(answer, "values"), peak_mb)

    def stop(self) -> None:
        """Ends the worker by the end of its input; one that does not listen is killed."""
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def _ask(self, request: dict) -> dict:
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._death() from None
        return self._read()

    def _read(self) -> dict:
        deadline = time.monotonic() + self._timeout
        while b"\n" not in self._rest:
            readable, _, _ = select.select(
                [self._process.stdout], [], [], max(0, deadline - time.monotonic())
            )
            if not readable:
                raise self._error(f"said nothing for {self._timeout:g} s")
            part = os.read(self._process.stdout.fileno(), 65536)
            if not part:
                raise self._death()
            self._rest += part
        line, self._rest = self._rest.split(b"\n", 1)
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise self._error(f"wrote a line that is no JSON object: {line[:200]!r}")
        return answer

    def _numbers(self, answer: dict, key: str) -> list[float]:
        numbers = answer.get(key)
        if not isinstance(numbers, list) or not all(type(x) in (int, float) for x in numbers):
            raise self._error(f'answered without numbers under "{key}": {json.dumps(answer)[:200]}')
        return [float(x) for x in numbers]

    def _death(self) -> WorkerError:
        return self._error(f"ended with exit code {self._process.wait(timeout=10)}")

    def _error(self, what: str) -> WorkerError:
        lines = self._log.read_text(errors="replace").strip().splitlines()[-5:]
        return WorkerError(
            "\n".join(
                [f"{self.name} {what}; its log is {self._log}", *("    " + line for line in lines)]
            )
        )
