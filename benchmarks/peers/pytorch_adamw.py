"""Clipping and AdamW alone: fused, Python's fastest form."""

import torch
import updates


class Updates(updates.Updates):
    def __init__(self, shapes):
        super().__init__(shapes)
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=updates.LEARNING_RATE, weight_decay=updates.WEIGHT_DECAY, fused=True
        )

    def step(self):
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, updates.CLIP_NORM, foreach=True)
        self.optimizer.step()
        return norm.item()


updates.serve(Updates, {"fused": True, "foreach_clip": True})
