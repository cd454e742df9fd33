"""Text to documents: readers, sentence splitting, and who is mentioned where. No torch in here."""
