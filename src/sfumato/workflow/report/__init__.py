"""Write the report for readers and for the owner, with its charts."""
