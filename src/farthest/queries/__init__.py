"""Questions that a stored distance map answers: distances, optimal paths, layers, exports and plots."""
