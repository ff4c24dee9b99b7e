"""Where the states of a running job are kept: contracts here, one package a place."""
