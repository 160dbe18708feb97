module github.com/rosaline-go/rosaline

go 1.26
