output "database_env" {
  description = "Settings of the application, as a file for its environment."
  value       = join("", [for name, value in module.database.settings : "${name}=${value}\n"])
}

output "nodes" {
  description = "Zone, rack, address and instance id of each node."
  value       = module.database.nodes
}

output "instance_ids" {
  description = "Instance ids of all nodes, for npm run operations --nodes."
  value       = join(",", [for node in values(module.database.nodes) : node.instance_id])
}

output "backup_location" {
  description = "For sctool backup."
  value       = module.database.backup_location
}

output "manager_agent_token" {
  description = "For aws ssm put-parameter, and for the agents of Scylla Manager."
  value       = module.database.manager_agent_token
}

output "client_security_group_id" {
  description = "For the application's instances."
  value       = module.database.client_security_group_id
}

output "application_subnet_ids" {
  description = "For the application's instances."
  value       = module.database.application_subnet_ids
}

output "monitoring_instance_id" {
  description = "For sessions."
  value       = module.database.monitoring_instance_id
}

output "prometheus_targets" {
  description = "For Prometheus."
  value       = module.database.prometheus_targets
}

output "license" {
  description = "vCPUs and storage that count towards ScyllaDB's license."
  value       = module.database.license
}
