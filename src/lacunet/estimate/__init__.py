"""One method a file; learn() is the road itself."""
