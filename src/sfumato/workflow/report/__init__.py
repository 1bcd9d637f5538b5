"""The report: one page and its charts, made for a reviewer who has never heard of sfumato."""
