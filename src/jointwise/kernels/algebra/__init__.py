"""Plain mathematics: angles, small linear systems, polynomials."""
