"""Writes the tables of policy/: learning-rate factors from transformers and torch (OneCycleLR), and
loss scales from torch._amp_update_scale_. Made with transformers 5.24.0 and torch 2.15.0.

schedules.txt, a line each: NAME ARGUMENTS... : FACTOR at step 0, 1, 2, ... (total_steps included
where there is one). loss_scales.txt: INITIAL GROWTH BACKOFF INTERVAL : then for each step
FOUND_INF,SCALE,TRACKER.
"""

import pathlib
import random

import torch
import transformers
from torch.optim.lr_scheduler import OneCycleLR

OUT = pathlib.Path(__file__).parent / "policy"


def optimizer():
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)


def factors(make, steps):
    sgd = optimizer()
    schedule = make(sgd)
    values = schedule.get_last_lr()
    for _ in range(steps - 1):
        sgd.step()
        schedule.step()
        values += schedule.get_last_lr()
    return values


def schedules():
    t = transformers
    for warmup in (0, 1, 7):
        yield f"constant {warmup}", lambda o: t.get_constant_schedule_with_warmup(o, warmup), 12
    for warmup, total in ((0, 10), (3, 20), (1, 1), (5, 5), (10, 40)):
        yield f"linear {warmup} {total}", lambda o: t.get_linear_schedule_with_warmup(o, warmup, total), total + 1
        for cycles in (0.5, 1.0, 2.25):
            yield (f"cosine {warmup} {total} {cycles} 0",
                   lambda o: t.get_cosine_schedule_with_warmup(o, warmup, total, cycles), total + 1)
        yield (f"cosine {warmup} {total} 0.5 0.1",
               lambda o: t.get_cosine_with_min_lr_schedule_with_warmup(o, warmup, total, min_lr_rate=0.1), total + 1)
    for warmup, timescale in ((0, None), (7, None), (7, 3), (2, 100)):
        yield (f"inverse_sqrt {warmup} {timescale or 0}",
               lambda o: t.get_inverse_sqrt_schedule(o, warmup, timescale), 30)
    for total, rising, div, final in ((10, 0.3, 25.0, 1e4), (37, 0.3, 25.0, 1e4), (20, 0.5, 10.0, 2.0),
                                      (20, 0.0, 25.0, 1e4), (20, 1.0, 25.0, 1e4), (1, 0.3, 25.0, 1e4)):
        yield (f"one_cycle {total} {rising} {div} {final}",
               lambda o: OneCycleLR(o, 1.0, total_steps=total, pct_start=rising, div_factor=div,
                                    final_div_factor=final, cycle_momentum=False), total)


def scales():
    random.seed(1)
    for initial, growth, backoff, interval in ((65536.0, 2.0, 0.5, 3), (1000.0, 1.7, 0.3, 1), (1.0, 2.0, 0.5, 2),
                                               (3e38, 2.0, 0.5, 1)):
        scale, tracker = torch.tensor([initial]), torch.zeros(1, dtype=torch.int32)
        steps = []
        for _ in range(40):
            found = float(random.random() < 0.2)
            torch._amp_update_scale_(scale, tracker, torch.tensor([found]), growth, backoff, interval)
            steps.append(f"{found:.0f},{scale.item()!r},{tracker.item()}")
        yield f"{torch.tensor(initial).item()!r} {growth} {backoff} {interval} : {' '.join(steps)}\n"


lines = [f"{name} : {' '.join(map(repr, factors(make, steps)))}\n" for name, make, steps in schedules()]
(OUT / "schedules.txt").write_text("".join(lines))
(OUT / "loss_scales.txt").write_text("".join(scales()))
