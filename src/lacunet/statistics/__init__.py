"""What is counted, and by whom; all of it adds up."""
