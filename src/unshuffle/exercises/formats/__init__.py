"""Exercises as files: text, web page, PDF, Word document, and questions for learning platforms."""
