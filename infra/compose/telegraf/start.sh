#!/bin/sh
# Gives Telegraf the token of Millrace from the mounted secret, since its configuration only reads the environment.
set -eu

MILLRACE_TOKEN=$(cat "$MILLRACE_TOKEN_FILE")
export MILLRACE_TOKEN
exec telegraf --config /opt/millrace/telegraf.conf
