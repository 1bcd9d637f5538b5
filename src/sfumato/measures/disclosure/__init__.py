"""What a release reveals about people's sensitive values."""
