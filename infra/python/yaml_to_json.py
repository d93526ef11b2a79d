"""Prints a YAML file as JSON, anchors and merge keys resolved: Node.js has no YAML parser of its own."""

import json
import sys

from ruamel.yaml import YAML

with open(sys.argv[1], encoding="utf-8") as file:
    json.dump(YAML(typ="safe").load(file), sys.stdout)
