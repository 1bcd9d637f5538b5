"""The workbench: a local web page on which a person loads, explores, compares, decides and publishes."""
