# CQL_USERNAME is the superuser, for npm run roles alone. Without TLS the application sends no password beyond loopback, unless
# TLS_ELSEWHERE declares the network private.
output "database_env" {
  description = "Settings of the application, as a file for its environment."
  value = join("", [for name, value in {
    CQL_CONTACT_POINTS = join(",", [for node in values(local.nodes) : "${node.address}:${local.cql_port}"])
    CQL_LOCAL_DC       = local.datacenter
    CQL_KEYSPACE       = "iot"
    CQL_USERNAME       = "millrace"
    TLS_ELSEWHERE      = tostring(!local.has_tls)
  } : "${name}=${value}\n"])
}

output "nodes" {
  description = "Zone, rack, address and instance id of each node."
  value = { for name, node in local.nodes : name => merge(node, {
    instance_id = name == local.first_node ? aws_instance.first.id : aws_instance.other[name].id
  }) }
}

output "instance_ids" {
  description = "Instance ids of all nodes, for infra/operations/ssm.sh."
  value       = join(",", concat([aws_instance.first.id], [for instance in aws_instance.other : instance.id]))
}

output "backup_location" {
  description = "Location for sctool backup -L."
  value       = "s3:${aws_s3_bucket.backups.id}"
}

output "manager_agent_token" {
  description = "Name of the secret parameter with the token of Scylla Manager's agents. The operator creates the parameter."
  value       = local.manager_agent_token
}

output "vpc_id" {
  description = "The network."
  value       = aws_vpc.this.id
}

output "application_subnet_ids" {
  description = "The subnets for the application, by zone."
  value       = { for zone, subnet in aws_subnet.application : zone => subnet.id }
}

output "client_security_group_id" {
  description = "Security group for the application. Its members may use CQL on the nodes."
  value       = aws_security_group.this["clients"].id
}

output "monitoring_instance_id" {
  description = "The monitoring host, for sessions."
  value       = aws_instance.monitoring.id
}

output "prometheus_targets" {
  description = "Addresses for Prometheus: ScyllaDB's metrics and the host metrics of each node."
  value       = { for job, port in { scylla = 9180, host = 9100 } : job => [for node in values(local.nodes) : "${node.address}:${port}"] }
}
