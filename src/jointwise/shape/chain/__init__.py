"""The shape of a chain, made from that of the robot it belongs to."""
