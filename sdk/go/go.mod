module github.com/scrapifie/scrapifie-go

go 1.19
