"""One target of a serial arm: sweeps, Levenberg-Marquardt steps, restarts."""
