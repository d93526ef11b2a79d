"""Prints HCL files as one JSON object, which has the content of each file under its path. Node.js has no HCL parser."""

import json
import sys

import hcl2

# In the output, HCL blocks have the key `__is_block__`, which distinguishes them from maps.
OPTIONS = hcl2.SerializationOptions(with_comments=False, strip_string_quotes=True)


def read(path):
    with open(path, encoding="utf-8") as file:
        return hcl2.load(file, serialization_options=OPTIONS)


json.dump({path: read(path) for path in sys.argv[1:]}, sys.stdout)
