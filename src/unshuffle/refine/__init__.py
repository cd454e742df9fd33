"""Link weights: which of two linked sentences comes first, easy pairs before hard ones."""
