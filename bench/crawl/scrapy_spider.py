# Scrapy with as many requests under way as the others, a jsonlines feed, and nothing that slows it down.
# usage: BENCH_USAGE_FILE=FILE python3 scrapy_spider.py URL FEED_FILE
import json
import os
import resource
import sys
import time

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

start, feed = sys.argv[1:3]
counts = {"pages": 0, "errors": 0}


class Spider(scrapy.Spider):
    name = "bench"
    links = LinkExtractor(allow=r"/big/")

    def start_requests(self):
        yield scrapy.Request(start, self.parse, errback=self.fail)

    def parse(self, response):
        counts["pages"] += 1
        yield {
            "url": response.url,
            "title": response.css("title::text").get(),
            "description": response.css("meta[name=description]::attr(content)").get(),
            "h1": response.css("h1::text").get(),
        }
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url, self.parse, errback=self.fail)

    def fail(self, _failure):
        counts["errors"] += 1


process = CrawlerProcess(
    {
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
        "ROBOTSTXT_OBEY": False,
        "LOG_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "FEEDS": {feed: {"format": "jsonlines"}},
        "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
    }
)
process.crawl(Spider)
started = time.monotonic()
process.start()
seconds = time.monotonic() - started

used = resource.getrusage(resource.RUSAGE_SELF)
with open(os.environ["BENCH_USAGE_FILE"], "w") as file:
    json.dump({"cpuSeconds": used.ru_utime + used.ru_stime, "peakRssBytes": used.ru_maxrss * 1024}, file)
print(json.dumps({**counts, "seconds": seconds}))
