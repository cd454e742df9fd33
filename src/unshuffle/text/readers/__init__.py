"""Files to documents, one file a format."""

from unshuffle.text.readers.read import FORMATS, read_documents
from unshuffle.text.readers.report import ReadReport

__all__ = ["FORMATS", "ReadReport", "read_documents"]
