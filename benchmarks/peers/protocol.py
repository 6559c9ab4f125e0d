"""What a worker and the controller say to each other: one JSON object a line on stdin and stdout.

    worker      {"ready": true, "versions": {...}, "flags": {...}}
    controller  {"verify": 5}   worker  {"values": [...]}
    controller  {"repeat": 0}   worker  {"seconds": 1.25, "values": [...], "peak_mb": 812.5}

`verify` comes first or never: so many steps with dropout off on fresh weights, over the random
batches of the groups in turn; its values must agree with those of every other side. `repeat` is
timed by the worker. Repeats are numbered from 0 and come in order; the end of stdin ends the
worker. Settings are the command line's only argument, in JSON.
"""

import importlib.metadata
import json
import os
import pathlib
import re
import sys
import time


def settings():
    return json.loads(sys.argv[1])


def peak_mb():
    """Largest resident memory of this program so far, in MB (10^6 bytes)."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) * 1024 / 1e6


class Channel:
    """The worker's end. Whatever else a framework prints goes to stderr."""

    def __init__(self):
        self._out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def ready(self, packages, flags):
        """Says that all is loaded; `packages` are those whose versions count."""
        versions = {"python": ".".join(map(str, sys.version_info[:3]))}
        versions |= {name: importlib.metadata.version(name) for name in packages}
        self.answer(ready=True, versions=versions, flags=flags)

    def next(self):
        """The next request, None at the end."""
        line = sys.stdin.readline()
        return json.loads(line) if line else None

    def answer(self, **fields):
        self._out.write(json.dumps(fields) + "\n")
        self._out.flush()


def serve(channel, verify, repeat, before=lambda: None):
    """For work that is called: verify(steps) and repeat(number) return what they computed; before()
    is called ahead of each repeat and not timed."""
    while (request := channel.next()) is not None:
        if "verify" in request:
            channel.answer(values=verify(request["verify"]))
        else:
            before()
            start = time.perf_counter()
            values = repeat(request["repeat"])
            channel.answer(seconds=time.perf_counter() - start, values=values, peak_mb=peak_mb())


class Recorder:
    """Hooks of a trainer that runs its own loop: here they only keep the losses."""

    def __init__(self):
        self.values = []

    def before_step(self):
        pass

    def after_step(self, loss):
        self.values.append(loss)


class Pace(Recorder):
    """Hooks that make repeats of `steps` steps out of a trainer's endless loop: the first step of
    each waits for its request, and the end of the requests ends the process."""

    def __init__(self, channel, steps, request):
        super().__init__()
        self._channel, self._steps, self._request = channel, steps, request
        self._start = None

    def before_step(self):
        if self.values:
            return
        request = self._request or self._channel.next()
        if request is None:
            sys.stderr.flush()
            os._exit(0)  # a trainer would first write checkpoints
        self._request = None
        self._start = time.perf_counter()

    def after_step(self, loss):
        super().after_step(loss)
        if len(self.values) == self._steps:
            seconds = time.perf_counter() - self._start
            self._channel.answer(seconds=seconds, values=self.values, peak_mb=peak_mb())
            self.values = []


def serve_trainer(channel, steps_a_repeat, train):
    """For trainers: train(dropout, steps, hooks) takes `steps` steps, without end if None."""
    request = channel.next()
    if request is not None and "verify" in request:
        recorder = Recorder()
        train(dropout=False, steps=request["verify"], hooks=recorder)
        channel.answer(values=recorder.values)
        request = channel.next()
    if request is not None:
        train(dropout=True, steps=None, hooks=Pace(channel, steps_a_repeat, request))
