# Values that are computed from the variables. They need no provider, so the tests run without a provider.
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

# Ports, and the security groups that may connect to them.
locals {
  groups = {
    nodes      = "Nodes of ScyllaDB"
    clients    = "The application: its members may use CQL on the nodes"
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

  # Scylla Manager on the monitoring host also checks over CQL that nodes answer.
  monitoring_ports = merge(local.cql_ports, {
    metrics      = 9180
    host-metrics = 9100
    agent        = 10001
  })

  # The application serves metrics on its HTTP port (HTTP_PORT). Nodes send their log by syslog over TLS (infra/monitoring/rsyslog).
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

  # Outbound connections: Systems Manager and S3 (https), signed packages from mirrors without TLS (http), and the clock (ntp),
  # which the database and the application need.
  outward_ports = {
    https = { protocol = "tcp", port = 443 }
    http  = { protocol = "tcp", port = 80 }
    ntp   = { protocol = "udp", port = 123 }
  }
  ways_out = { for pair in setproduct(["nodes", "monitoring"], keys(local.outward_ports)) : "${pair[0]} ${pair[1]}" => merge(
    { group = pair[0] }, local.outward_ports[pair[1]]
  ) }

  # Each client network outside the VPC, with each port of CQL.
  outside = { for pair in setproduct(var.client_cidr_blocks, keys(local.cql_ports)) : "${pair[0]} ${pair[1]}" => {
    cidr = pair[0]
    port = local.cql_ports[pair[1]]
  } }
}
