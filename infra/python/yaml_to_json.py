"""Prints a YAML file as JSON, with resolved anchors and merge keys. Node.js has no YAML parser."""

import json
import sys

from ruamel.yaml import YAML

with open(sys.argv[1], encoding="utf-8") as file:
    json.dump(YAML(typ="safe").load(file), sys.stdout)
