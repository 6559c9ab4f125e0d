"""How long a program takes from its start until its metrics file holds a first line."""

import json
import pathlib
import subprocess
import time

import protocol


def first_line(settings):
    """Runs the program until then. Returns the line and the seconds."""
    metrics = pathlib.Path(settings["metrics"])
    metrics.parent.mkdir(parents=True, exist_ok=True)
    metrics.unlink(missing_ok=True)
    start = time.perf_counter()
    program = subprocess.Popen(settings["program"], stdout=subprocess.DEVNULL)
    try:
        while not metrics.is_file() or "\n" not in metrics.read_text():
            if program.poll() not in (None, 0):
                raise RuntimeError(f"{settings['program'][0]} ended with {program.returncode}")
            time.sleep(0.001)
        return json.loads(metrics.read_text().split("\n")[0]), time.perf_counter() - start
    finally:
        program.terminate()
        program.wait()


def main():
    settings, channel = protocol.settings(), protocol.Channel()
    channel.ready([], {})
    while (request := channel.next()) is not None:
        line, seconds = first_line(settings)
        values = [line["train/loss"]]
        if "verify" in request:
            channel.answer(values=values)
        else:
            channel.answer(seconds=seconds, values=values, peak_mb=0.0)


main()
