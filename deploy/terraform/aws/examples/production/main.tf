# A fleet that survives the loss of a zone, with fixed addresses and more of everything.

terraform {
  required_version = ">= 1.9"

  # The bucket is given to `terraform init` by -backend-config.
  backend "s3" {
    key          = "scrapifie/production.tfstate"
    encrypt      = true
    use_lockfile = true
  }

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.0"
    }
  }
}

provider "aws" {
  region = var.region
}

variable "region" {
  description = "Region of AWS."
  type        = string
  default     = "eu-central-1"
}

variable "release" {
  description = "Version of Scrapifie to run, such as 0.1.0."
  type        = string
}

variable "contact" {
  description = "URL or e-mail address where a site owner can reach you."
  type        = string
}

variable "certificate_arn" {
  description = "ACM certificate of the load balancer."
  type        = string
}

variable "public_url" {
  description = "Address of the API for the outside world."
  type        = string
}

variable "alarm_topic_arn" {
  description = "SNS topic that alarms are sent to."
  type        = string
}

module "scrapifie" {
  source = "../.."

  name               = "scrapifie-prod"
  image              = "ghcr.io/scrapifie/scrapifie:${var.release}"
  slim_image         = "ghcr.io/scrapifie/scrapifie:${var.release}-slim"
  contact            = var.contact
  certificate_arn    = var.certificate_arn
  public_url         = var.public_url
  allowed_cidrs      = ["0.0.0.0/0"]
  availability_zones = ["${var.region}a", "${var.region}b", "${var.region}c"]
  egress             = "nat"
  alarm_topic_arn    = var.alarm_topic_arn
  log_days           = 90

  services = {
    api            = { cpu = 1024, memory = 2048, min = 2, max = 10 }
    http-worker    = { cpu = 2048, memory = 4096, min = 2, max = 50, spot = true, environment = { SCRAPIFIE_MAX_HOSTS = "512" } }
    browser-worker = { cpu = 4096, memory = 8192, min = 2, max = 50, spot = true }
    stealth-worker = { cpu = 2048, memory = 4096, min = 1, max = 10 }
    scheduler      = { cpu = 512, memory = 1024, min = 2, max = 2 }
  }

  database = { instance_class = "db.m7g.xlarge", storage_gb = 200, max_storage_gb = 2000, multi_az = true, backup_days = 30 }
  redis    = { node_type = "cache.m7g.large", replicas = 1 }
  bucket   = { infrequent_after_days = 30 }

  settings = {
    SCRAPIFIE_DATABASE_POOL         = "12"
    SCRAPIFIE_RETENTION_BODIES_DAYS = "90"
    SCRAPIFIE_BOT_PURPOSE           = "Keeps the data of our product up to date."
  }
}

output "url" {
  description = "Address of the API and the dashboard."
  value       = module.scrapifie.url
}

output "nat_addresses" {
  description = "Addresses that requests come from."
  value       = module.scrapifie.nat_addresses
}
