variable "name" {
  description = "Name of the cluster in ScyllaDB Cloud."
  type        = string
}

variable "cloud" {
  description = "AWS or GCP."
  type        = string
  default     = "AWS"

  validation {
    condition     = contains(["AWS", "GCP"], var.cloud)
    error_message = "cloud must be AWS or GCP."
  }
}

variable "region" {
  description = "Region of the cloud, such as us-east-1. The application runs in the same one."
  type        = string
}

variable "node_type" {
  description = "Instance type of a node, such as i8g.xlarge."
  type        = string
}

variable "min_nodes" {
  description = "Fewest nodes, one third in each rack. The only size that can be changed later without a new cluster."
  type        = number
  default     = 3

  validation {
    condition     = var.min_nodes >= 3 && var.min_nodes % 3 == 0
    error_message = "min_nodes must be 3 or a multiple of it."
  }
}

variable "cidr_block" {
  description = "The cluster's own network. It must not overlap with a network that is peered with it."
  type        = string

  validation {
    condition     = can(cidrhost(var.cidr_block, 1))
    error_message = "cidr_block must be an IPv4 CIDR block."
  }
}

variable "availability_zone_ids" {
  description = "Three zone ids, such as use1-az1 (ids, because names differ between accounts). Unset, ScyllaDB Cloud chooses."
  type        = set(string)
  default     = null

  validation {
    condition     = var.availability_zone_ids == null || try(length(var.availability_zone_ids) == 3, false)
    error_message = "availability_zone_ids must be exactly three different ids."
  }
}

variable "scylla_version" {
  description = "Version of ScyllaDB (default: the newest in ScyllaDB Cloud)."
  type        = string
  default     = null
}

variable "backup_retention_days" {
  description = "How long backups outlive the cluster, in days (0 to 60)."
  type        = number
  default     = 14

  validation {
    condition     = var.backup_retention_days >= 0 && var.backup_retention_days <= 60
    error_message = "backup_retention_days must be from 0 to 60."
  }
}

variable "private" {
  description = "true: nodes have private addresses, reached by peering. false: public addresses, reached from allowed_cidr_blocks."
  type        = bool
  default     = true
}

variable "allowed_cidr_blocks" {
  description = "Networks that may connect to the cluster. A peered network needs no entry."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for cidr in var.allowed_cidr_blocks : can(cidrhost(cidr, 0)) && !endswith(cidr, "/0")])
    error_message = "allowed_cidr_blocks must be CIDR blocks, and none may be everybody (/0)."
  }
}

variable "peerings" {
  description = "Client networks, each by a name of your choice. Each requests a peering, which its owner then accepts."
  type = map(object({
    account_id  = string
    vpc_id      = string
    region      = string
    cidr_blocks = list(string)
  }))
  default = {}

  validation {
    condition     = var.private || length(var.peerings) == 0
    error_message = "peerings need private = true."
  }

  validation {
    condition = alltrue([for cidr in flatten(values(var.peerings)[*].cidr_blocks) : length(distinct([
      for one in [cidr, var.cidr_block] :
      cidrhost("${split("/", one)[0]}/${min(tonumber(split("/", cidr)[1]), tonumber(split("/", var.cidr_block)[1]))}", 0)
    ])) == 2])
    error_message = "cidr_block (${var.cidr_block}) overlaps with a peered network. AWS would refuse the peering only after the cluster exists, when cidr_block is fixed."
  }
}

variable "keyspace" {
  description = "Keyspace of the application (CQL_KEYSPACE)."
  type        = string
  default     = "iot"
}
