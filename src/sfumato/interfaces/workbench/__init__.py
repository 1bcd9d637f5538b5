"""The workbench: local web pages for loading, exploring, comparing, deciding and publishing."""
