// Package httpsd asks the URLs of http_sd_configs for their targets, as Prometheus does,
// from the machine of whoever looks.
//
// The URL is that of whoever wrote the ScrapeConfig. So only hosts are asked that the caller
// names, and never an address of the caller's own machine or link unless it is named
// itself. Nothing that authenticates is sent: a discovery with credentials is not asked.
//
//	client := httpsd.New([]string{"inventory.example"})
//	found := client.Find(ctx, &job.HTTP[0]) // groups, or a gap that says why there are none
package httpsd
