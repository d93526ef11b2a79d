# Nodes have no public address, and no host outside can open a connection to them. Traffic to Systems Manager and to package mirrors goes
# through one NAT gateway. While the zone of the gateway is down, no Systems Manager session can start, but the database keeps working.
# Backups reach S3 through a gateway endpoint, which is free.
resource "aws_vpc" "this" {
  cidr_block           = var.cidr_block
  enable_dns_support   = true
  enable_dns_hostnames = true
  tags                 = { Name = var.name }
}

resource "aws_subnet" "nodes" {
  for_each = local.zones

  vpc_id                  = aws_vpc.this.id
  availability_zone       = each.key
  cidr_block              = each.value.nodes
  map_public_ip_on_launch = false
  tags                    = { Name = "${var.name}-nodes-${each.key}" }
}

resource "aws_subnet" "application" {
  for_each = local.zones

  vpc_id                  = aws_vpc.this.id
  availability_zone       = each.key
  cidr_block              = each.value.application
  map_public_ip_on_launch = false
  tags                    = { Name = "${var.name}-application-${each.key}" }
}

resource "aws_subnet" "outward" {
  vpc_id                  = aws_vpc.this.id
  availability_zone       = local.first_zone
  cidr_block              = cidrsubnet(var.cidr_block, 8, 255)
  map_public_ip_on_launch = false
  tags                    = { Name = "${var.name}-outward" }
}

resource "aws_internet_gateway" "this" {
  vpc_id = aws_vpc.this.id
  tags   = { Name = var.name }
}

resource "aws_eip" "outward" {
  domain = "vpc"
  tags   = { Name = "${var.name}-outward" }
}

resource "aws_nat_gateway" "this" {
  allocation_id = aws_eip.outward.id
  subnet_id     = aws_subnet.outward.id
  tags          = { Name = var.name }

  depends_on = [aws_internet_gateway.this]
}

resource "aws_route_table" "outward" {
  vpc_id = aws_vpc.this.id
  tags   = { Name = "${var.name}-outward" }
}

resource "aws_route" "outward" {
  route_table_id         = aws_route_table.outward.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.this.id
}

resource "aws_route_table_association" "outward" {
  subnet_id      = aws_subnet.outward.id
  route_table_id = aws_route_table.outward.id
}

resource "aws_route_table" "private" {
  vpc_id = aws_vpc.this.id
  tags   = { Name = "${var.name}-private" }
}

resource "aws_route" "private" {
  route_table_id         = aws_route_table.private.id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.this.id
}

resource "aws_route_table_association" "nodes" {
  for_each = aws_subnet.nodes

  subnet_id      = each.value.id
  route_table_id = aws_route_table.private.id
}

resource "aws_route_table_association" "application" {
  for_each = aws_subnet.application

  subnet_id      = each.value.id
  route_table_id = aws_route_table.private.id
}

resource "aws_vpc_endpoint" "s3" {
  vpc_id            = aws_vpc.this.id
  service_name      = "com.amazonaws.${var.region}.s3"
  vpc_endpoint_type = "Gateway"
  route_table_ids   = [aws_route_table.private.id]
  tags              = { Name = "${var.name}-s3" }
}
