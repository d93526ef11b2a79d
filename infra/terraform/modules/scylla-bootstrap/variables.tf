variable "cluster_name" {
  description = "Name of the cluster. Nodes of another name refuse to join."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,30}$", var.cluster_name))
    error_message = "cluster_name must start with a to z, hold only a to z, 0 to 9 and -, and have at most 31 characters."
  }
}

variable "zones" {
  description = "Availability zones of one region, each with the CIDR block of its subnet. Each zone is a rack."
  type        = map(string)

  validation {
    condition     = alltrue([for zone in keys(var.zones) : can(regex("^[a-z]{2,}(-[a-z]+)+-[0-9][a-z]$", zone))])
    error_message = "zones must be names of availability zones, such as us-east-1a. Ec2Snitch derives no rack from the names of local and wavelength zones."
  }

  validation {
    condition     = length(distinct([for zone in keys(var.zones) : substr(zone, 0, length(zone) - 1)])) == 1
    error_message = "zones must be of one region. Each region is its own data center, and this module describes one."
  }

  validation {
    condition     = alltrue([for cidr in values(var.zones) : can(cidrhost(cidr, 255))])
    error_message = "Each zone needs the CIDR block of its subnet, IPv4, of at least 256 addresses (/24 or larger)."
  }

  validation {
    condition     = length(distinct(values(var.zones))) == length(var.zones)
    error_message = "Two zones have the same CIDR block: a subnet stands in one zone."
  }
}

variable "nodes_per_zone" {
  description = "Nodes in each zone. Each rack holds a full copy, so a zone with fewer nodes would fill up first."
  type        = number
  default     = 1

  validation {
    condition     = var.nodes_per_zone >= 1 && var.nodes_per_zone <= 100 && floor(var.nodes_per_zone) == var.nodes_per_zone
    error_message = "nodes_per_zone must be a whole number from 1 to 100."
  }
}

variable "seed_address" {
  description = "Address of a running node through which new nodes join (default: the first node). Set it when the first node is lost."
  type        = string
  default     = null

  validation {
    condition     = var.seed_address == null || can(cidrhost("${var.seed_address}/32", 0))
    error_message = "seed_address must be an IPv4 address."
  }
}

variable "superuser_name" {
  description = "The first superuser. There is no role cassandra with the password cassandra."
  type        = string
  default     = "millrace"

  validation {
    condition     = can(regex("^[a-z][a-z0-9_]{0,47}$", var.superuser_name)) && var.superuser_name != "cassandra"
    error_message = "superuser_name must be a lower-case name of up to 48 characters, and not cassandra."
  }
}

variable "superuser_salted_password" {
  description = "SHA-512 crypt hash of the superuser's password, as `openssl passwd -6 -stdin` prints it. Never the password itself."
  type        = string
  sensitive   = true

  validation {
    condition     = can(regex("^\\$6\\$[./0-9A-Za-z]{1,16}\\$[./0-9A-Za-z]{86}$", var.superuser_salted_password))
    error_message = "superuser_salted_password must be a SHA-512 crypt hash ($6$salt$hash); openssl passwd -6 -stdin makes one."
  }
}

variable "scylla_yaml" {
  description = "Further settings of scylla.yaml, such as client_encryption_options. The settings of this module take precedence."
  type        = any
  default     = {}
}
