"""Tables of targets and of results: CSV, JSON lines, Parquet and ``.npz`` files."""
