module github.com/firekeeper-dev/firekeeper/cmd

go 1.26.0

require (
	github.com/firekeeper-dev/firekeeper/internal v0.0.0
	github.com/firekeeper-dev/firekeeper/operator v0.0.0
	github.com/firekeeper-dev/firekeeper/reloaders/config-reloader v0.0.0
	github.com/firekeeper-dev/firekeeper/reloaders/rules-reloader v0.0.0
)

require (
	github.com/KimMachineGun/automemlimit v1.0.1 // indirect
	github.com/alecthomas/kingpin/v2 v2.4.0 // indirect
	github.com/alecthomas/units v0.0.0-20240927000941-0f3dac36c52b // indirect
	github.com/pbnjay/memory v0.0.0-20210728143218-7b4eea64cf58 // indirect
	github.com/prometheus/client_golang v1.23.2 // indirect
	github.com/prometheus/common v0.69.0 // indirect
	github.com/prometheus/exporter-toolkit v0.16.0 // indirect
	github.com/xhit/go-str2duration/v2 v2.1.0 // indirect
)

replace github.com/firekeeper-dev/firekeeper/internal => ../internal

replace github.com/firekeeper-dev/firekeeper/operator => ../operator

replace github.com/firekeeper-dev/firekeeper/reloaders/config-reloader => ../reloaders/config-reloader

replace github.com/firekeeper-dev/firekeeper/reloaders/rules-reloader => ../reloaders/rules-reloader
