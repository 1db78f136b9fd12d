"""The native library: its entry points, its build, and the fingerprint of its sources."""
