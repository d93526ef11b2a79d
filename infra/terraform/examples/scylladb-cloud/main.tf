# Millrace on ScyllaDB Cloud, from a network of your own in AWS.
terraform {
  required_version = ">= 1.11"

  required_providers {
    scylladbcloud = {
      source  = "scylladb/scylladbcloud"
      version = "~> 1.13"
    }
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.64"
    }
  }
}

# The provider reads its token from the environment variable SCYLLADB_CLOUD_TOKEN.
provider "scylladbcloud" {}

provider "aws" {
  region = var.region
}

data "aws_caller_identity" "current" {}

data "aws_vpc" "application" {
  id = var.vpc_id
}

module "database" {
  source = "../../modules/scylladb-cloud"

  name       = var.name
  region     = var.region
  node_type  = var.node_type
  min_nodes  = var.min_nodes
  cidr_block = var.cidr_block

  peerings = {
    application = {
      account_id  = data.aws_caller_identity.current.account_id
      vpc_id      = data.aws_vpc.application.id
      region      = var.region
      cidr_blocks = [data.aws_vpc.application.cidr_block]
    }
  }
}

resource "aws_vpc_peering_connection_accepter" "application" {
  vpc_peering_connection_id = module.database.peering_connection_ids["application"]
  auto_accept               = true

  tags = {
    Name = "${var.name}-database"
  }
}

resource "aws_route" "to_database" {
  for_each = var.route_table_ids

  route_table_id            = each.value
  destination_cidr_block    = module.database.cidr_block
  vpc_peering_connection_id = aws_vpc_peering_connection_accepter.application.vpc_peering_connection_id
}
