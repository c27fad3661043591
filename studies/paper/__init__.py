"""The studies, the paper's example of rows used, and the numbers that the paper printed."""
