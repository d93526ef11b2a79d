# What is arithmetic over the variables, and asks no provider: tested without one.
locals {
  tags = merge(var.tags, { Cluster = var.name })

  zones = { for i, zone in sort(var.zones) : zone => {
    nodes       = cidrsubnet(var.cidr_block, 4, i)
    application = cidrsubnet(var.cidr_block, 4, i + 4)
  } }
  first_zone = sort(var.zones)[0]
  outward    = cidrsubnet(var.cidr_block, 8, 255)

  manager_agent_token = "/${var.name}/manager-agent-token"
}

# Ports, and who may come to them.
locals {
  cql_ports = {
    plain            = 9042
    tls              = 9142
    plain-shard-wise = 19042
    tls-shard-wise   = 19142
  }

  node_ports = {
    gossip     = 7000
    gossip-tls = 7001
  }

  # Scylla Manager on the monitoring host asks nodes over CQL, too, whether they answer.
  monitoring_ports = merge(local.cql_ports, {
    metrics      = 9180
    host-metrics = 9100
    agent        = 10001
  })

  # Ways out of this network: Systems Manager and S3; packages, which are signed, from mirrors without TLS; and the clock, which
  # the database and the application rest on.
  outward_ports = {
    https = { protocol = "tcp", port = 443 }
    http  = { protocol = "tcp", port = 80 }
    ntp   = { protocol = "udp", port = 123 }
  }
  ways_out = { for pair in setproduct(["nodes", "monitoring"], keys(local.outward_ports)) : "${pair[0]} ${pair[1]}" => merge(
    { group = pair[0] }, local.outward_ports[pair[1]]
  ) }

  # Each network of the application outside, with each port of CQL.
  outside = { for pair in setproduct(var.client_cidr_blocks, keys(local.cql_ports)) : "${pair[0]} ${pair[1]}" => {
    cidr = pair[0]
    port = local.cql_ports[pair[1]]
  } }
}
