"""Python files that repeat a capture with torch and transformers alone."""
