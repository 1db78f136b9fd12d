"""Serial arms: closed form, CCD sweeps, Levenberg-Marquardt, restarts."""
