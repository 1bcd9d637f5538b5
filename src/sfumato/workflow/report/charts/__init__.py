"""Charts of the reports and of notebooks, drawn as SVG."""
