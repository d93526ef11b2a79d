#!/bin/sh
# Copies Millrace's token from the mounted secret into the environment, because Telegraf's configuration can only read the environment.
set -eu

MILLRACE_TOKEN=$(cat "$MILLRACE_TOKEN_FILE")
export MILLRACE_TOKEN
exec telegraf --config /opt/millrace/telegraf.conf
