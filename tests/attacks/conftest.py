"""The same services as in `tests/serve`."""

from tests.serve.conftest import client, model, serve

__all__ = ["client", "model", "serve"]
