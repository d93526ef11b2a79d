# If TLS is enabled, a cluster listens on port 9042 without TLS and on port 9142 with TLS. The application uses the port of its contact
# points for all nodes. Without TLS it sends no password beyond loopback, unless TLS_ELSEWHERE declares the network private.
locals {
  has_tls = try(length(scylladbcloud_cluster.this.ca_certificate) > 0, false)
  port    = local.has_tls ? 9142 : 9042
}

output "settings" {
  description = "Settings of the application, by the names that it reads. CQL_USERNAME is the superuser, for npm run roles alone."
  value = {
    CQL_CONTACT_POINTS = join(",", [for seed in split(",", data.scylladbcloud_cql_auth.this.seeds) : "${trimspace(seed)}:${local.port}"])
    CQL_LOCAL_DC       = scylladbcloud_cluster.this.datacenter
    CQL_KEYSPACE       = var.keyspace
    CQL_USERNAME       = data.scylladbcloud_cql_auth.this.username
    TLS_ELSEWHERE      = tostring(var.private && !local.has_tls)
  }
}

output "secrets" {
  description = "Secret settings. Put each into a file; CQL_PASSWORD_FILE names that of the password."
  value = {
    CQL_PASSWORD = data.scylladbcloud_cql_auth.this.password
  }
  sensitive = true
}

output "files" {
  description = "Contents of the files that settings name. An empty one means that the cluster has no TLS and the setting stays unset."
  value = {
    CQL_TLS_CA = scylladbcloud_cluster.this.ca_certificate
  }
}

output "cluster_id" {
  description = "The cluster's number in ScyllaDB Cloud."
  value       = scylladbcloud_cluster.this.cluster_id
}

output "cidr_block" {
  description = "Network of the cluster, as the destination for routes of a peered network."
  value       = scylladbcloud_cluster.this.cidr_block
}

output "peering_connection_ids" {
  description = "The connection of each peering, for its owner to accept."
  value       = { for name in keys(var.peerings) : name => scylladbcloud_vpc_peering.this[name].connection_id }
}

output "node_dns_names" {
  description = "Names of all nodes, for monitoring."
  value       = scylladbcloud_cluster.this.node_dns_names
}
