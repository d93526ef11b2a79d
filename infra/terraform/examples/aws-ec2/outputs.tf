output "settings" {
  description = "For the application's environment."
  value       = module.database.settings
}

output "nodes" {
  description = "For sessions, and for Scylla Manager."
  value       = module.database.nodes
}

output "backup_location" {
  description = "For sctool backup."
  value       = module.database.backup_location
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

output "licence" {
  description = "What ScyllaDB's licence counts."
  value       = module.database.licence
}
