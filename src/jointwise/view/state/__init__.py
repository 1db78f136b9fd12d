"""The state of a visitor, in parts; nothing here draws."""
