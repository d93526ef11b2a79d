variable "name" {
  description = "Name of the cluster, and the beginning of all names here."
  type        = string
}

variable "zones" {
  description = "Three availability zones of the provider's region, such as us-east-1a."
  type        = list(string)

  validation {
    condition     = length(distinct(var.zones)) == 3
    error_message = "zones must be three different availability zones: one rack in each, one copy in each rack."
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
  description = "ScyllaDB's image in this region and for the architecture of instance_type; ScyllaDB's documentation lists them by version."
  type        = string

  validation {
    condition     = can(regex("^ami-[0-9a-f]+$", var.ami))
    error_message = "ami must be the id of an image, ami-..."
  }
}

variable "instance_type" {
  description = "Instance type of a node, with NVMe disks of its own: i7i (x86_64) or i8g (arm64)."
  type        = string
  default     = "i7i.2xlarge"
}

variable "nodes_per_zone" {
  description = "Nodes in each zone. The first apply makes one in each; add the others when those are up."
  type        = number
  default     = 1
}

variable "seed_address" {
  description = "Address of a living node through which new nodes join, once the first one is gone."
  type        = string
  default     = null
}

variable "scylla_yaml" {
  description = "Further settings of scylla.yaml, for nodes that are made from now on: { replace_node_first_boot = HOST_ID } for one in the place of a dead one."
  type        = any
  default     = {}
}

variable "superuser_salted_password" {
  description = "Hash of the superuser's password, as `openssl passwd -6 -stdin` prints it."
  type        = string
  sensitive   = true
}

variable "licence" {
  description = "free or commercial; free is held to 10 TB and 50 vCPUs."
  type        = string
  default     = "free"
}

variable "other_vcpus" {
  description = "vCPUs of the organization's other ScyllaDB servers, which the free licence counts too."
  type        = number
  default     = 0
}

variable "other_storage_gb" {
  description = "Disk of the organization's other ScyllaDB servers, in GB."
  type        = number
  default     = 0
}

variable "keyspace" {
  description = "Keyspace of the application (CQL_KEYSPACE)."
  type        = string
  default     = "iot"
}

variable "backup_bucket" {
  description = "Name of the bucket for backups; bucket names are one namespace for everybody."
  type        = string
}

variable "backup_versions_days" {
  description = "How long a backup that was deleted or overwritten can still be had, in days."
  type        = number
  default     = 30

  validation {
    condition     = var.backup_versions_days >= 1
    error_message = "backup_versions_days must be 1 or more."
  }
}

variable "monitoring_ami" {
  description = "Image of the monitoring host, with Systems Manager's agent running, such as Ubuntu or Amazon Linux for the architecture of monitoring_instance_type."
  type        = string

  validation {
    condition     = can(regex("^ami-[0-9a-f]+$", var.monitoring_ami))
    error_message = "monitoring_ami must be the id of an image, ami-..."
  }
}

variable "monitoring_instance_type" {
  description = "Instance type of the monitoring host."
  type        = string
  default     = "m7i.large"
}

variable "monitoring_disk_gb" {
  description = "Disk of the monitoring host, in GiB: metrics and logs are kept there."
  type        = number
  default     = 200
}

variable "client_cidr_blocks" {
  description = "Networks of the application outside this one, such as a peered one. In this network, put the application into client_security_group_id."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for cidr in var.client_cidr_blocks : can(cidrhost(cidr, 0)) && !endswith(cidr, "/0")])
    error_message = "client_cidr_blocks must be CIDR blocks, and none may be everybody (/0)."
  }
}

variable "tags" {
  description = "Tags for everything here."
  type        = map(string)
  default     = {}
}
