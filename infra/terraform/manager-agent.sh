#!/bin/sh
# Installs or updates the agent of ScyllaDB Manager on a node, and writes its token. The node reads the token from Parameter Store
# with its own permissions, so neither user data nor a command line contains the token. Run this script as root. A second run is
# safe.
set -eu
usage='usage: SOURCE=address VERSION=3.x.y TOKEN=parameter REGION=region LOCATION=s3:bucket sh manager-agent.sh
SOURCE is the address of the package list for Ubuntu in the documentation of ScyllaDB Manager.'
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
# The package also contains the configuration file that this script writes below. Without this option an update of the package would ask
# which version to keep, and fail.
apt-get install -y -o Dpkg::Options::=--force-confold "scylla-manager-agent=$VERSION*" python3-boto3

# The agent runs as scylla-manager. No other account may read its configuration file.
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
