"""Each result, for people (text) and for programs (data); one file per kind of result."""
