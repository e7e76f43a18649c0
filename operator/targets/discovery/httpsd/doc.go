// Package httpsd requests the URLs of http_sd_configs for their targets, like Prometheus does, from
// the machine of the caller.
//
// The author of a ScrapeConfig controls the URL. Requests are therefore only sent to hosts that the
// caller permits, and to addresses of the caller's own machine or link only if they are permitted
// explicitly. Credentials are never sent: discoveries with credentials are not requested.
//
//	client := httpsd.New([]string{"inventory.example"})
//	found := client.Find(ctx, &job.HTTP[0]) // groups, or a gap with the reason
package httpsd
