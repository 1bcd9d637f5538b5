"""Methods that replace values by sets or intervals, or suppress them."""
