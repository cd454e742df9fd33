"""Files to documents, one module per format."""

from unshuffle.text.readers.read import FORMATS, ReadReport, read_documents

__all__ = ["FORMATS", "ReadReport", "read_documents"]
