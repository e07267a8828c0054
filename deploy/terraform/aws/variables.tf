# What has to be decided

variable "name" {
  description = "Name of the installation; the names of all its parts begin with it."
  type        = string
  default     = "scrapifie"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,18}[a-z0-9]$", var.name))
    error_message = "The name needs 3 to 20 characters: lower-case letters, digits and hyphens, beginning with a letter."
  }
}

variable "image" {
  description = "Image with Chromium, for browser-worker and stealth-worker, such as ghcr.io/scrapifie/scrapifie:0.1.0."
  type        = string

  validation {
    condition     = can(regex("(:[\\w][\\w.-]*|@sha256:[0-9a-f]{64})$", var.image)) && !endswith(var.image, ":latest")
    error_message = "Name the image by a version or a digest; tasks that start later would otherwise run another program."
  }
}

variable "slim_image" {
  description = "Image without a browser, for the other roles; null takes the one with Chromium."
  type        = string
  default     = null

  validation {
    condition     = var.slim_image == null || can(regex("(:[\\w][\\w.-]*|@sha256:[0-9a-f]{64})$", var.slim_image))
    error_message = "Name the image by a version or a digest."
  }
}

variable "contact" {
  description = "URL or e-mail address where a site owner can reach you; it goes into the user agent."
  type        = string

  validation {
    condition     = can(regex("^(https?://|mailto:)?\\S+[.@]\\S+$", var.contact))
    error_message = "The contact must be a URL or an e-mail address."
  }
}

variable "certificate_arn" {
  description = "ACM certificate of the load balancer; without one it speaks plain HTTP, to private addresses only."
  type        = string
  default     = null
}

variable "public_url" {
  description = "Address of the API for the outside world, such as https://scrape.example.com; null takes the load balancer's."
  type        = string
  default     = null

  validation {
    condition     = var.public_url == null || can(regex("^https?://[^/]+$", var.public_url))
    error_message = "The address needs http:// or https:// and no path."
  }
}

variable "allowed_cidrs" {
  description = "Address ranges that may reach the API."
  type        = list(string)

  validation {
    condition     = length(var.allowed_cidrs) > 0 && alltrue([for range in var.allowed_cidrs : can(cidrhost(range, 0))])
    error_message = "At least one range such as 203.0.113.0/24 is needed."
  }

  validation {
    condition = var.certificate_arn != null || alltrue([
      for range in var.allowed_cidrs : can(regex("^(10\\.|192\\.168\\.|172\\.(1[6-9]|2[0-9]|3[01])\\.)", range))
    ])
    error_message = "Without a certificate keys would cross the internet in the open: set certificate_arn, or allow private ranges only."
  }
}

# The network

variable "vpc_cidr" {
  description = "Address range of the VPC, /16 to /20."
  type        = string
  default     = "10.40.0.0/16"

  validation {
    condition     = can(cidrhost(var.vpc_cidr, 0)) && tonumber(split("/", var.vpc_cidr)[1]) >= 16 && tonumber(split("/", var.vpc_cidr)[1]) <= 20
    error_message = "The range must be between /16 and /20."
  }
}

variable "availability_zones" {
  description = "Two or three zones of the region, such as [\"eu-central-1a\", \"eu-central-1b\"]."
  type        = list(string)

  validation {
    condition     = length(var.availability_zones) >= 2 && length(var.availability_zones) <= 3
    error_message = "The load balancer and the database need two zones; more than three are not planned for."
  }
}

variable "egress" {
  description = "How tasks reach the internet: `public-ip` gives each an address of its own, which costs nothing per gigabyte; `nat` has one fixed address per zone."
  type        = string
  default     = "public-ip"

  validation {
    condition     = contains(["public-ip", "nat"], var.egress)
    error_message = "Either public-ip or nat."
  }
}

# The roles

variable "services" {
  description = "What each role gets: CPU in 1/1024 of a core, memory in MB, fewest and most tasks, and whether they may run on Fargate Spot."
  type = map(object({
    cpu         = number
    memory      = number
    min         = number
    max         = number
    spot        = optional(bool, false)
    environment = optional(map(string), {})
  }))
  default = {
    api            = { cpu = 512, memory = 1024, min = 2, max = 6 }
    http-worker    = { cpu = 1024, memory = 2048, min = 1, max = 10, spot = true }
    browser-worker = { cpu = 2048, memory = 4096, min = 1, max = 10, spot = true }
    scheduler      = { cpu = 512, memory = 1024, min = 1, max = 1 }
  }

  validation {
    condition     = length(setsubtract(keys(var.services), ["api", "http-worker", "browser-worker", "stealth-worker", "scheduler"])) == 0
    error_message = "Roles are api, http-worker, browser-worker, stealth-worker and scheduler."
  }

  validation {
    condition     = alltrue([for role in ["api", "http-worker", "scheduler"] : contains(keys(var.services), role)])
    error_message = "A fleet needs api, http-worker and scheduler."
  }

  validation {
    condition     = alltrue([for service in values(var.services) : contains([256, 512, 1024, 2048, 4096, 8192, 16384], service.cpu)])
    error_message = "Fargate knows 256, 512, 1024, 2048, 4096, 8192 and 16384 units of CPU."
  }

  validation {
    condition     = alltrue([for service in values(var.services) : service.min >= 0 && service.max >= service.min])
    error_message = "The most tasks of a role cannot be fewer than the fewest."
  }
}

variable "cpu_architecture" {
  description = "ARM64 costs a fifth less than X86_64; the images are made for both."
  type        = string
  default     = "ARM64"

  validation {
    condition     = contains(["ARM64", "X86_64"], var.cpu_architecture)
    error_message = "Either ARM64 or X86_64."
  }
}

variable "settings" {
  description = "More settings for all roles, by the names of docs/configuration.md. Secrets do not belong here: see secret_settings."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for name in keys(var.settings) : can(regex("^(SCRAPIFIE|OTEL)_[A-Z0-9_]+$", name))])
    error_message = "Names of settings begin with SCRAPIFIE_ or OTEL_."
  }
}

variable "secret_settings" {
  description = "Settings whose values are in Secrets Manager or the Parameter Store: the name of the setting and the ARN."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for name, arn in var.secret_settings : can(regex("^SCRAPIFIE_[A-Z0-9_]+$", name)) && startswith(arn, "arn:")])
    error_message = "Each entry needs the name of a setting and an ARN."
  }
}

variable "collector_image" {
  description = "AWS distribution of the OpenTelemetry collector; it brings the metrics that services are scaled by to CloudWatch."
  type        = string
  default     = "public.ecr.aws/aws-observability/aws-otel-collector:v0.48.0"
}

# When services grow

variable "cpu_target_percent" {
  description = "Average CPU of a service that its number of tasks is held at."
  type        = number
  default     = 60

  validation {
    condition     = var.cpu_target_percent >= 10 && var.cpu_target_percent <= 90
    error_message = "Between 10 and 90."
  }
}

variable "waiting_per_worker" {
  description = "Work that waits, per worker, that the number of workers is held at: hosts of http-workers, renders of the others."
  type = object({
    http    = optional(number, 100)
    browser = optional(number, 8)
    stealth = optional(number, 4)
  })
  default = {}

  validation {
    condition     = alltrue([for number in values(var.waiting_per_worker) : number > 0])
    error_message = "More than 0."
  }
}

# The servers

variable "database" {
  description = "RDS for PostgreSQL."
  type = object({
    instance_class      = optional(string, "db.t4g.medium")
    engine_version      = optional(string, "17")
    storage_gb          = optional(number, 50)
    max_storage_gb      = optional(number, 500)
    multi_az            = optional(bool, false)
    backup_days         = optional(number, 7)
    deletion_protection = optional(bool, true)
  })
  default = {}

  validation {
    condition     = tonumber(split(".", var.database.engine_version)[0]) >= 15
    error_message = "Scrapifie needs PostgreSQL 15 or newer."
  }

  validation {
    condition     = var.database.max_storage_gb > var.database.storage_gb
    error_message = "max_storage_gb must be larger than storage_gb, so that the disk can grow by itself."
  }
}

variable "redis" {
  description = "ElastiCache for Redis. Everything in it can be made again from the database, so one node without backups will do."
  type = object({
    node_type = optional(string, "cache.t4g.micro")
    replicas  = optional(number, 0)
  })
  default = {}

  validation {
    condition     = var.redis.replicas >= 0 && var.redis.replicas <= 5
    error_message = "Between 0 and 5 replicas."
  }
}

variable "bucket" {
  description = "The S3 bucket of bodies, exports and the lake. `infrequent_after_days` moves objects to a cheaper class; 0 for never."
  type = object({
    force_destroy         = optional(bool, false)
    infrequent_after_days = optional(number, 0)
  })
  default = {}

  validation {
    condition     = var.bucket.infrequent_after_days == 0 || var.bucket.infrequent_after_days >= 30
    error_message = "S3 takes no objects younger than 30 days into that class."
  }
}

variable "log_days" {
  description = "Days that logs are kept in CloudWatch."
  type        = number
  default     = 30

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731], var.log_days)
    error_message = "CloudWatch knows 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545 and 731 days."
  }
}

variable "alarm_topic_arn" {
  description = "SNS topic that alarms are sent to; null for no alarms."
  type        = string
  default     = null
}

variable "tags" {
  description = "Tags of everything that is made."
  type        = map(string)
  default     = {}
}
