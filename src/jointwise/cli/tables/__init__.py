"""Tables of targets and of results: CSV, Parquet and ``.npz`` files."""
