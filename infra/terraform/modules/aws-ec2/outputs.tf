locals {
  instance_ids = merge(
    { (module.bootstrap.first_node) = aws_instance.first.id },
    { for name, instance in aws_instance.other : name => instance.id },
  )
}

output "settings" {
  description = "Settings of the application, by the names that it reads."
  value       = module.bootstrap.settings
}

output "nodes" {
  description = "Zone, rack, address and instance id of each node."
  value       = { for name, node in module.bootstrap.nodes : name => merge(node, { instance_id = local.instance_ids[name] }) }
}

output "create_keyspace" {
  description = "The statement that creates the keyspace as npm run migrate would."
  value       = module.bootstrap.create_keyspace
}

output "license" {
  description = "vCPUs and storage that count towards ScyllaDB's license."
  value       = module.bootstrap.license
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
  value = {
    scylla = [for node in values(module.bootstrap.nodes) : "${node.address}:9180"]
    host   = [for node in values(module.bootstrap.nodes) : "${node.address}:9100"]
  }
}
