#!/bin/sh
# Runs in the container of JanusGraph: writes its files with the address and the password of the database, then runs Gremlin Server.
set -eu

cp /opt/millrace/graph/* /tmp
cd /tmp
sed -i 's/^host: .*/host: 0.0.0.0/' gremlin-server.yaml
sed -i -e 's/^storage.hostname=.*/storage.hostname=cql/' -e 's/^storage.cql.keyspace=.*/storage.cql.keyspace=iot_graph/' janusgraph.properties
printf 'storage.username=millrace\nstorage.password=%s\n' "$(cat "$CQL_PASSWORD_FILE")" >>janusgraph.properties
exec java -Xms256m -Xmx512m -cp '/opt/janusgraph/lib/*' org.janusgraph.graphdb.server.JanusGraphServer gremlin-server.yaml
