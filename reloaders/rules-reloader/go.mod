module github.com/firekeeper-dev/firekeeper/reloaders/rules-reloader

go 1.26.0

require github.com/firekeeper-dev/firekeeper/internal v0.0.0

require (
	github.com/a8m/envsubst v1.4.3 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/prometheus/client_golang v1.23.2 // indirect
	github.com/prometheus/common v0.69.0 // indirect
	github.com/prometheus/exporter-toolkit v0.16.0 // indirect
	go.uber.org/goleak v1.3.0 // indirect
)

replace github.com/firekeeper-dev/firekeeper/internal => ../../internal
