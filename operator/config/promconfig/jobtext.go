package promconfig

import "github.com/Masterminds/semver/v3"

// JobText is the YAML of scrape jobs, with the context to interpret it like the pods do.
type JobText struct {
	// Text holds items of scrape_configs.
	Text []byte
	// Origins holds the origins of the steps of each job, see [Settings.WithOrigins].
	Origins [][]Origin
	// Head is the part of the document before scrape_configs, for the defaults of its global block.
	Head []byte
	// Shards are the variables that the pods of each shard substitute in the text: "SHARD": "0"
	// for "$(SHARD)". If empty, there is one shard without variables.
	Shards []map[string]string
	// Release is the version of the servers; nil for the linked version.
	Release *semver.Version
	// NoDefaultPort means that the servers have the feature no-default-scrape-port of major version 2.
	NoDefaultPort bool
}
