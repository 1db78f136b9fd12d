"""Robot arms: their joints, frames and limits, and the files they come from."""
