"""What fusedlr costs, measured beside its peers: ``make bench``."""
