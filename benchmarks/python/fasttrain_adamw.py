"""Clipping and AdamW of the Python package alone, on tensors of BERT-base's shapes."""

import fasttrain as ft
import updates


class Updates(updates.Updates):
    def __init__(self, shapes):
        super().__init__(shapes)
        self.optimizer = ft.AdamW(
            self.parameters, lr=updates.LEARNING_RATE, weight_decay=updates.WEIGHT_DECAY
        )

    def step(self):
        norm = ft.clip_grad_norm_(self.parameters, updates.CLIP_NORM)
        self.optimizer.step()
        return norm.item()


with ft.Runtime():
    updates.serve(Updates, {})
