"""The steps of the work, from the engine that reads records to queries on a published folder."""
