"""Bodies of media types that Schemathesis does not know: their examples are texts already, and generated ones are sent as bytes."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson", "application/vnd.apache.parquet")
def as_bytes(_context, value):
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode()
