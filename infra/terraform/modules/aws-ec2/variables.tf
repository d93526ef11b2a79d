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
  description = "ScyllaDB's image in this region, for the architecture of instance_type. ScyllaDB's documentation lists the images by version."
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
  description = "Hash of the superuser's password, as `openssl passwd -6 -stdin` prints it."
  type        = string
  sensitive   = true
}

variable "license" {
  description = "free or commercial. free is limited to 10 TB and 50 vCPUs."
  type        = string
  default     = "free"
}

variable "other_vcpus" {
  description = "vCPUs of the organization's other ScyllaDB servers. The free license counts them too."
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
  description = "Name of the bucket for backups. Bucket names are unique across all AWS accounts."
  type        = string
}

variable "backup_versions_days" {
  description = "How long S3 keeps a deleted or overwritten backup, in days."
  type        = number
  default     = 30

  validation {
    condition     = var.backup_versions_days >= 1
    error_message = "backup_versions_days must be 1 or more."
  }
}

variable "monitoring_ami" {
  description = "Image of the monitoring host, for the architecture of monitoring_instance_type. It must run Systems Manager's agent, as Ubuntu and Amazon Linux do."
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
  description = "Client networks outside the VPC, such as a peered one. In the VPC, put the application into client_security_group_id."
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
