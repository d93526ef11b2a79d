output "settings" {
  description = "For the application's environment."
  value       = module.database.settings
}

output "secrets" {
  description = "For files that the application's ..._FILE settings name."
  value       = module.database.secrets
  sensitive   = true
}

output "files" {
  description = "For files that the application's settings name."
  value       = module.database.files
}
