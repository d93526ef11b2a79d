import os

import pytest

from millrace import Millrace


@pytest.fixture
def client():
    with Millrace(os.environ['MILLRACE_URL'], os.environ.get('MILLRACE_TOKEN')) as millrace:
        yield millrace
