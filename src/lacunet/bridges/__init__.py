"""Networks to and from other libraries, in memory; CPTs are carried to the last bit."""
