"""Store candidates, measurements and decisions of a project, and the versions that made them."""
