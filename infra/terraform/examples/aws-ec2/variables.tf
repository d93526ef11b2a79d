variable "name" {
  description = "Name of the cluster."
  type        = string
  default     = "millrace"
}

variable "region" {
  description = "Region, such as us-east-1."
  type        = string
}

variable "zone_suffixes" {
  description = "Last characters of three zones of the region that have the instance type."
  type        = list(string)
  default     = ["a", "b", "c"]
}

variable "ami" {
  description = "ScyllaDB's image in the region, for the architecture of instance_type."
  type        = string
}

variable "instance_type" {
  description = "Instance type of a node. npm run size calculates how much you need."
  type        = string
  default     = "i7i.2xlarge"
}

variable "nodes_per_zone" {
  description = "Nodes in each zone."
  type        = number
  default     = 1
}

variable "seed_address" {
  description = "Address of a running node through which new nodes join when the first one is lost."
  type        = string
  default     = null
}

variable "scylla_yaml" {
  description = "Further settings of scylla.yaml for new nodes."
  type        = any
  default     = {}
}

variable "superuser_salted_password" {
  description = "Hash of the superuser's password. Put it into secret.auto.tfvars, which git ignores, not on the command line."
  type        = string
  sensitive   = true
}

variable "license" {
  description = "free or commercial."
  type        = string
  default     = "free"
}

variable "client_cidr_blocks" {
  description = "Client networks outside the VPC."
  type        = set(string)
  default     = []
}

variable "backup_bucket" {
  description = "Name of the bucket for backups."
  type        = string
}

variable "monitoring_ami" {
  description = "Image of the monitoring host."
  type        = string
}
