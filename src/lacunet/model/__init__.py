"""What is learned: variables, a DAG, CPTs."""
