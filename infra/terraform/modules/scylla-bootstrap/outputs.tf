output "region" {
  description = "The region of the zones."
  value       = local.region
}

output "datacenter" {
  description = "Name of the data center, as Ec2Snitch derives it."
  value       = local.datacenter
}

output "racks" {
  description = "Rack of each zone, as Ec2Snitch derives it."
  value       = local.racks
}

output "nodes" {
  description = "Zone, rack and fixed private address of each node."
  value       = local.nodes
}

output "first_node" {
  description = "The node that starts the cluster. The others join it."
  value       = local.first_node
}

output "seed" {
  description = "The address through which a new node joins."
  value       = local.seed
}

output "user_data_base64" {
  description = "User data for the first boot of each node. Sensitive, because it holds the hash of the superuser's password."
  value       = base64encode(local.user_data)
  sensitive   = true
}

output "create_keyspace" {
  description = "Creates the keyspace by hand. npm run migrate creates it otherwise."
  value       = "CREATE KEYSPACE IF NOT EXISTS ${var.keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', '${local.datacenter}': ${var.replication_factor}};"
}

# With TLS, ScyllaDB encrypts the default port, unless native_transport_port_ssl names another port. Without TLS the application sends no
# password beyond loopback, unless TLS_ELSEWHERE declares the network private.
locals {
  has_tls  = try(tobool(var.scylla_yaml.client_encryption_options.enabled), false)
  cql_port = local.has_tls ? try(var.scylla_yaml.native_transport_port_ssl, 9042) : 9042
}

output "settings" {
  description = "Settings of the application, by the names that it reads. CQL_USERNAME is the superuser, for npm run roles alone."
  value = {
    CQL_CONTACT_POINTS = join(",", [for node in values(local.nodes) : "${node.address}:${local.cql_port}"])
    CQL_LOCAL_DC       = local.datacenter
    CQL_KEYSPACE       = var.keyspace
    CQL_USERNAME       = var.superuser_name
    TLS_ELSEWHERE      = tostring(!local.has_tls)
  }
}

output "license" {
  description = "vCPUs and storage that count towards the license."
  value       = { vcpus = local.vcpus, storage_tb = local.storage_tb, of = var.license }

  precondition {
    condition     = var.license == "commercial" || local.vcpus <= local.free_vcpus
    error_message = "${local.vcpus} vCPUs are more than the ${local.free_vcpus} of ScyllaDB's free tier (${local.node_count} nodes of ${var.vcpus_per_node}, and ${var.other_vcpus} elsewhere). Take fewer or smaller nodes, or set license = \"commercial\" if you have a contract."
  }

  precondition {
    condition     = var.license == "commercial" || local.storage_tb <= local.free_storage_tb
    error_message = "${local.storage_tb} TB of disk are more than the ${local.free_storage_tb} TB of ScyllaDB's free tier (${local.node_count} nodes of ${var.storage_gb_per_node} GB, and ${var.other_storage_gb} GB elsewhere). Take fewer or smaller nodes, or set license = \"commercial\" if you have a contract."
  }
}
