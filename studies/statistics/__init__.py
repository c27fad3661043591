"""How right the methods are: experiments behind numbers of the docs, each run by hand."""
