"""Trees of joints: several targets at once, a free base."""
