"""Tables of the distance between link groups with one or two joints between them."""
