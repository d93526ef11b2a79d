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
  groups = {
    nodes      = "Nodes of ScyllaDB"
    clients    = "The application: whoever is in it may speak CQL to the nodes"
    monitoring = "The monitoring host"
  }

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

  # The application's metrics are on its HTTP port (HTTP_PORT); nodes send their log by syslog over TLS (infra/monitoring/rsyslog).
  ways_in = merge([for way in [
    { from = "nodes", to = "nodes", ports = local.node_ports },
    { from = "clients", to = "nodes", ports = local.cql_ports },
    { from = "monitoring", to = "nodes", ports = local.monitoring_ports },
    { from = "monitoring", to = "clients", ports = { metrics = 8080 } },
    { from = "nodes", to = "monitoring", ports = { logs = 6514 } },
    ] : { for name, port in way.ports : "${way.from} to ${way.to}: ${name}" => {
      from = way.from
      to   = way.to
      port = port
  } }]...)

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
