"""How much the leaks of released programs are worth: a study, no part of the package, never to be used for results."""
