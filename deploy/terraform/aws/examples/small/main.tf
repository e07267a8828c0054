# A fleet for tens of pages a second, in one region: docs/aws.md has its price.

terraform {
  required_version = ">= 1.9"

  # The bucket is given to `terraform init` by -backend-config.
  backend "s3" {
    key          = "scrapifie/small.tfstate"
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

module "scrapifie" {
  source = "../.."

  image              = "ghcr.io/scrapifie/scrapifie:${var.release}"
  slim_image         = "ghcr.io/scrapifie/scrapifie:${var.release}-slim"
  contact            = var.contact
  certificate_arn    = var.certificate_arn
  public_url         = var.public_url
  allowed_cidrs      = ["0.0.0.0/0"]
  availability_zones = ["${var.region}a", "${var.region}b"]
}

output "url" {
  description = "Address of the API and the dashboard."
  value       = module.scrapifie.url
}

output "load_balancer" {
  description = "What the DNS name of the API has to point at."
  value       = module.scrapifie.load_balancer
}

output "api_key_secret" {
  description = "The secret with the first key of the API."
  value       = module.scrapifie.api_key_secret
}
