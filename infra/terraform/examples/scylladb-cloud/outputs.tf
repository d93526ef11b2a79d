output "database_env" {
  description = "Settings of the application, as a file for its environment."
  value       = join("", [for name, value in module.database.settings : "${name}=${value}\n"])
}

output "superuser_password" {
  description = "For a file that CQL_PASSWORD_FILE names, for npm run roles."
  value       = module.database.secrets.CQL_PASSWORD
  sensitive   = true
}

output "cql_ca" {
  description = "For a file that CQL_TLS_CA names. Empty when the cluster has no TLS; then leave the setting unset."
  value       = module.database.files.CQL_TLS_CA == null ? "" : module.database.files.CQL_TLS_CA
}
