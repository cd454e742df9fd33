"""Generated requests, right and wrong ones, find no failure of the service."""

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from tests.serve.conftest import Server
from tests.serve.fake import FakeOrderer
from unshuffle.serve.app import make_app

schema = schemathesis.openapi.from_dict(make_app(FakeOrderer()).openapi())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("openapi"), {})
    yield server
    server.stop()


@schema.parametrize()
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_no_generated_request_makes_the_service_fail(case: schemathesis.Case, server: Server) -> None:
    checks = [not_a_server_error, response_schema_conformance, status_code_conformance]
    case.call_and_validate(base_url=server.url, checks=checks)
