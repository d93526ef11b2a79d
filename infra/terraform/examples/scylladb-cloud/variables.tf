variable "name" {
  description = "Name of the cluster."
  type        = string
  default     = "millrace"
}

variable "region" {
  description = "Region of the application, and of the cluster."
  type        = string
}

variable "node_type" {
  description = "Instance type of a node. npm run size calculates how much you need."
  type        = string
  default     = "i8g.xlarge"
}

variable "min_nodes" {
  description = "Fewest nodes, a multiple of three."
  type        = number
  default     = 3
}

variable "cidr_block" {
  description = "The cluster's own network. It must not overlap with the application's."
  type        = string
  default     = "172.31.0.0/16"
}

variable "vpc_id" {
  description = "Network of the application."
  type        = string
}

variable "route_table_ids" {
  description = "Route tables of the subnets that the application runs in."
  type        = set(string)
}
