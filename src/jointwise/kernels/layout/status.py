"""How a solve or a step of a tracker ended, as kernels number it."""

# How a solve ended, as kernels number it; ``results.STATUS_BY_CODE`` has the sentences.
CONVERGED, ITERATION_LIMIT, STALLED, OUTSIDE_LIMITS, UNREACHABLE, INVALID = range(6)
# The target is reached, and something touches: in every solution found, or in all that exist.
COLLIDES, COLLIDES_ALWAYS = 6, 7
# A problem that has not ended.
PENDING = -1
# The status of rows of a batch that the closed form does not decide.
UNDECIDED = 255

# How a step of a tracker ended; ``track_results.TrackStatus`` has the sentences.
TRACK_FOLLOWING, TRACK_APPROACHING, TRACK_AT_LIMIT, TRACK_STUCK, TRACK_INVALID = range(5)
