"""The data sets of the paper: where to ask for them, how to read the forms in which people have them, how to check."""
