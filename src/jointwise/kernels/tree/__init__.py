"""Several targets of a whole robot: a kinematic tree with a sparse factorisation."""
