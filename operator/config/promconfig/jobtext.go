package promconfig

import "github.com/Masterminds/semver/v3"

// JobText is the YAML of scrape jobs, with what a reader needs to interpret it as the pods do.
type JobText struct {
	// Text is items of scrape_configs.
	Text []byte
	// Origins are those of the steps of each job, as [Settings.WithOrigins] makes them.
	Origins [][]Origin
	// Head is the document before scrape_configs, for the defaults of its global block.
	Head []byte
	// Shards are the variables that the pods of each shard replace in the text:
	// "SHARD" → "0" for "$(SHARD)". Without any, there is one shard without variables.
	Shards []map[string]string
	// Release of the servers; nil for the release that is linked.
	Release *semver.Version
	// NoDefaultPort is true when they have the feature no-default-scrape-port of major version 2.
	NoDefaultPort bool
}
