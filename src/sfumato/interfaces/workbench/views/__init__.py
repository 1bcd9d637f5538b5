"""Views: what a page shows, computed from what the state knows."""
