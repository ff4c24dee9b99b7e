"""Where the states of a run are kept: contracts here, one package a place."""
