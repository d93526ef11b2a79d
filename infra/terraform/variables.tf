variable "name" {
  description = "Name of the cluster, and the beginning of all names here. Nodes of another name refuse to join."
  type        = string
  default     = "millrace"
}

variable "region" {
  description = "Region, such as us-east-1."
  type        = string
}

variable "zone_suffixes" {
  description = "Last characters of three zones of the region that have the instance type. Each zone is a rack with a copy of all data."
  type        = list(string)
  default     = ["a", "b", "c"]

  validation {
    condition     = length(distinct(var.zone_suffixes)) == 3 && alltrue([for suffix in var.zone_suffixes : can(regex("^[a-z]$", suffix))])
    error_message = "zone_suffixes must be the last characters of three different availability zones: one rack in each, one copy in each rack."
  }
}

variable "cidr_block" {
  description = "The network, /16 to /20. Each zone gets a sixteenth of it for nodes, and another for the application."
  type        = string
  default     = "10.20.0.0/16"

  validation {
    condition     = can(cidrhost(var.cidr_block, 0)) && try(contains(range(16, 21), tonumber(split("/", var.cidr_block)[1])), false)
    error_message = "cidr_block must be an IPv4 CIDR block from /16 to /20."
  }
}

variable "ami" {
  description = "ScyllaDB's image in this region, for the architecture of instance_type."
  type        = string
}

variable "instance_type" {
  description = "Instance type of a node, with NVMe disks of its own: i7i (x86_64) or i8g (arm64). npm run size calculates how much you need."
  type        = string
  default     = "i7i.2xlarge"
}

variable "nodes_per_zone" {
  description = "Nodes in each zone. The first apply creates one in each. Add more when those are up."
  type        = number
  default     = 1
}

variable "seed_address" {
  description = "Address of a running node through which new nodes join when the first one is lost."
  type        = string
  default     = null
}

variable "scylla_yaml" {
  description = "Further settings of scylla.yaml for new nodes. { replace_node_first_boot = HOST_ID } replaces a dead node."
  type        = any
  default     = {}
}

variable "superuser_salted_password" {
  description = "Hash of the superuser's password, as `openssl passwd -6 -stdin` prints it. Put it into secret.auto.tfvars, which git ignores."
  type        = string
  sensitive   = true

  validation {
    condition     = can(regex("^\\$6\\$[./0-9A-Za-z]{1,16}\\$[./0-9A-Za-z]{86}$", var.superuser_salted_password))
    error_message = "superuser_salted_password must be a SHA-512 crypt hash ($6$salt$hash); openssl passwd -6 -stdin makes one."
  }
}

variable "backup_bucket" {
  description = "Name of the bucket for backups. Bucket names are unique across all AWS accounts."
  type        = string
}

variable "monitoring_ami" {
  description = "Image of the monitoring host, x86_64. It must run Systems Manager's agent, as Ubuntu and Amazon Linux do."
  type        = string
}

variable "client_cidr_blocks" {
  description = "Client networks outside the VPC, such as a peered one. In the VPC, put the application into client_security_group_id."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for cidr in var.client_cidr_blocks : can(cidrhost(cidr, 0)) && !endswith(cidr, "/0")])
    error_message = "client_cidr_blocks must be CIDR blocks, and none may be everybody (/0)."
  }
}
