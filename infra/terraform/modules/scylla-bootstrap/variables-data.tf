variable "keyspace" {
  description = "Keyspace of the application (CQL_KEYSPACE)."
  type        = string
  default     = "iot"

  validation {
    condition     = can(regex("^[a-z][a-z0-9_]{0,47}$", var.keyspace))
    error_message = "keyspace must be a lower-case CQL name of up to 48 characters."
  }
}

variable "replication_factor" {
  description = "Copies of each partition in this data center."
  type        = number
  default     = 3

  validation {
    condition     = var.replication_factor == 1 || var.replication_factor == length(var.zones)
    error_message = "replication_factor must be the number of zones (${length(var.zones)}): tables in tablets need one copy in each rack. 1 is possible, but protects against no loss."
  }
}

variable "license" {
  description = "free or commercial. With free, the plan fails beyond the limits of ScyllaDB's free tier. commercial needs a contract."
  type        = string
  default     = "free"

  validation {
    condition     = contains(["free", "commercial"], var.license)
    error_message = "license must be free or commercial."
  }
}

variable "vcpus_per_node" {
  description = "vCPUs of a node (hyperthreads count)."
  type        = number

  validation {
    condition     = var.vcpus_per_node >= 2
    error_message = "vcpus_per_node must be 2 or more: ScyllaDB's images require it."
  }
}

variable "storage_gb_per_node" {
  description = "Disk for data of a node, in GB (10^9 bytes). The whole disk counts."
  type        = number

  validation {
    condition     = var.storage_gb_per_node > 0
    error_message = "storage_gb_per_node must be more than 0: the instance type has no disk of its own."
  }
}

variable "other_vcpus" {
  description = "vCPUs of all other ScyllaDB servers of the organization. The free tier counts them together."
  type        = number
  default     = 0

  validation {
    condition     = var.other_vcpus >= 0
    error_message = "other_vcpus cannot be negative."
  }
}

variable "other_storage_gb" {
  description = "Disk of all other ScyllaDB servers of the organization, in GB."
  type        = number
  default     = 0

  validation {
    condition     = var.other_storage_gb >= 0
    error_message = "other_storage_gb cannot be negative."
  }
}
