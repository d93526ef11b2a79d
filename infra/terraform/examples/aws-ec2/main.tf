# Millrace's database on EC2, with one node in each of three zones.
terraform {
  required_version = ">= 1.11"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.64"
    }
  }
}

provider "aws" {
  region = var.region
}

module "database" {
  source = "../../modules/aws-ec2"

  name                      = var.name
  zones                     = [for suffix in var.zone_suffixes : "${var.region}${suffix}"]
  ami                       = var.ami
  instance_type             = var.instance_type
  nodes_per_zone            = var.nodes_per_zone
  seed_address              = var.seed_address
  scylla_yaml               = var.scylla_yaml
  superuser_salted_password = var.superuser_salted_password
  license                   = var.license
  client_cidr_blocks        = var.client_cidr_blocks
  backup_bucket             = var.backup_bucket
  monitoring_ami            = var.monitoring_ami
}
