"""The functions of C++ that users call as they are, with clear errors for wrong types."""

from fasttrain import _native
from fasttrain._types import with_clear_types

save_file = with_clear_types("safetensors.save")(_native.save_file)
load_file = with_clear_types("safetensors.load")(_native.load_file)
constant = with_clear_types("schedule.constant")(_native.constant)
linear_warmup = with_clear_types("schedule.linear")(_native.linear_warmup)
cosine = with_clear_types("schedule.cosine")(_native.cosine)
inverse_sqrt = with_clear_types("schedule.inverse_sqrt")(_native.inverse_sqrt)
one_cycle = with_clear_types("schedule.one_cycle")(_native.one_cycle)
