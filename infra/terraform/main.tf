# Millrace's database on EC2: a network over three zones, nodes of ScyllaDB, a bucket for backups, a monitoring host, their permissions.
#
# The state holds the hash of the superuser's password. Its bucket encrypts it, keeps old versions and has few readers: see
# docs/how-to/deploy-the-database.md, "Keep the state". Name the bucket on the command line:
#   terraform init -backend-config=bucket=NAME -backend-config=region=REGION -backend-config=kms_key_id=ARN
terraform {
  required_version = ">= 1.11"

  backend "s3" {
    key          = "millrace/aws-ec2.tfstate"
    encrypt      = true
    use_lockfile = true
  }

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.64"
    }
  }
}

provider "aws" {
  region = var.region

  default_tags { tags = { Cluster = var.name } }
}
