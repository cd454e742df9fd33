"""What the tests of the product find, the tests of the laboratory find too."""

from tests.conftest import data_folder, pytest_runtest_setup  # noqa: F401
