#!/bin/sh
# Installs the agent of ScyllaDB Manager on a node, or its newer version, and gives it its token: from Parameter Store, by the
# node's own rights, so that the token is in no user data and in no command. For root; may be run again at any time.
set -eu
usage='usage: SOURCE=address VERSION=3.x.y TOKEN=parameter REGION=region LOCATION=s3:bucket sh manager-agent.sh
SOURCE is the list of packages that the documentation of ScyllaDB Manager names for Ubuntu.'
case "${1:-}" in
  --help) echo "$usage" && exit ;;
esac
for value in "${SOURCE:-}" "${VERSION:-}" "${TOKEN:-}" "${REGION:-}" "${LOCATION:-}"; do
  [ -n "$value" ] || { echo "$usage" >&2 && exit 2; }
done
config=${CONFIG:-/etc/scylla-manager-agent/scylla-manager-agent.yaml}

export DEBIAN_FRONTEND=noninteractive
gpg --homedir /tmp --no-default-keyring --keyring /etc/apt/keyrings/scylladb.gpg \
  --keyserver hkps://keyserver.ubuntu.com --recv-keys a43e06657bac99e3
curl -fsSL -o /etc/apt/sources.list.d/scylla-manager.list "$SOURCE"
apt-get update
# The file below is the package's, too: a newer one would ask whose is to stay, and fail without an answer.
apt-get install -y -o Dpkg::Options::=--force-confold "scylla-manager-agent=$VERSION*" python3-boto3

# The agent runs as scylla-manager, and nobody else reads it.
umask 027
python3 - "$TOKEN" "$REGION" >"$config.new" <<'PYTHON'
import json, sys
import boto3
name, region = sys.argv[1:]
parameter = boto3.client("ssm", region_name=region).get_parameter(Name=name, WithDecryption=True)
print("auth_token:", json.dumps(parameter["Parameter"]["Value"].strip()))
print("s3:")
print("  region:", region)
PYTHON
chgrp scylla-manager "$config.new"
mv "$config.new" "$config"

scyllamgr_agent_setup -y
systemctl restart scylla-manager-agent
runuser -u scylla-manager -- scylla-manager-agent check-location --location "$LOCATION"
