# The connections that are allowed. Each rule for incoming connections names a security group or a network as source, never all addresses.

# AWS gives this default group to an instance without another group. It has no rule, so no connection is possible.
resource "aws_default_security_group" "nobody" {
  vpc_id = aws_vpc.this.id
  tags   = merge(local.tags, { Name = "${var.name}-nobody" })
}

resource "aws_security_group" "this" {
  for_each = local.groups

  name        = "${var.name}-${each.key}"
  description = each.value
  vpc_id      = aws_vpc.this.id
  tags        = merge(local.tags, { Name = "${var.name}-${each.key}" })
}

resource "aws_vpc_security_group_ingress_rule" "inside" {
  for_each = local.ways_in

  security_group_id            = aws_security_group.this[each.value.to].id
  referenced_security_group_id = aws_security_group.this[each.value.from].id
  description                  = each.key
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = each.value.port
}

resource "aws_vpc_security_group_ingress_rule" "outside" {
  for_each = local.outside

  security_group_id = aws_security_group.this["nodes"].id
  cidr_ipv4         = each.value.cidr
  description       = "CQL of the application outside"
  ip_protocol       = "tcp"
  from_port         = each.value.port
  to_port           = each.value.port
}

# By default AWS lets a new group open any outbound connection, but Terraform removes this rule. These rules allow the necessary
# connections.
resource "aws_vpc_security_group_egress_rule" "outward" {
  for_each = local.ways_out

  security_group_id = aws_security_group.this[each.value.group].id
  cidr_ipv4         = "0.0.0.0/0"
  description       = "Out of this network: ${each.key}"
  ip_protocol       = each.value.protocol
  from_port         = each.value.port
  to_port           = each.value.port
}

resource "aws_vpc_security_group_egress_rule" "inside" {
  for_each = local.groups

  security_group_id = aws_security_group.this[each.key].id
  cidr_ipv4         = var.cidr_block
  description       = "Everything in this network"
  ip_protocol       = "-1"
}
