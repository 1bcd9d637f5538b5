"""The lattice of full-domain recodings: its nodes, their profile, and searches through it."""
