"""The controller's half: what is compared, how it is measured, and how it is told."""
