"""Exploring: make and measure the candidates of a project, and see what is stored of them."""
