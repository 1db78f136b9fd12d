"""Many targets of a serial arm, side by side in the lanes of a processor."""
