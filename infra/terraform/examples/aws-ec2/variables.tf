variable "name" {
  description = "Name of the cluster."
  type        = string
  default     = "millrace"
}

variable "region" {
  description = "Region, such as us-east-1."
  type        = string
}

variable "zone_letters" {
  description = "Three zones of the region that have the instance type."
  type        = list(string)
  default     = ["a", "b", "c"]
}

variable "ami" {
  description = "ScyllaDB's image in the region, for the architecture of instance_type."
  type        = string
}

variable "instance_type" {
  description = "Instance type of a node; npm run size says how much is needed."
  type        = string
  default     = "i7i.2xlarge"
}

variable "nodes_per_zone" {
  description = "Nodes in each zone."
  type        = number
  default     = 1
}

variable "seed_address" {
  description = "Address of a living node through which new nodes join, once the first one is gone."
  type        = string
  default     = null
}

variable "scylla_yaml" {
  description = "Further settings of scylla.yaml, for nodes that are made from now on."
  type        = any
  default     = {}
}

variable "superuser_salted_password" {
  description = "Hash of the superuser's password. It belongs into secret.auto.tfvars, which git ignores, not on the command line."
  type        = string
  sensitive   = true
}

variable "licence" {
  description = "free or commercial."
  type        = string
  default     = "free"
}

variable "client_cidr_blocks" {
  description = "Networks of the application outside this one."
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
