"""Rows in: any dataframe or file becomes columns of codes."""
