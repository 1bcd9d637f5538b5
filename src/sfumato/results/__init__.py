"""What the methods make: releases, recodings, measurements, candidates, the frontier and the decision."""
