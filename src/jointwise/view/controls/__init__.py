"""The panel of a visitor, in parts."""
