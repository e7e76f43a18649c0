// Package gate writes configuration structs as YAML for one version of the
// program that reads them.
//
// Field tags say when a key exists:
//
//	EnableCompression *bool            `yaml:"enable_compression,omitempty" since:"2.49.0"`
//	OutOfOrderWindow  string           `yaml:"out_of_order_time_window,omitempty" since:"2.39.0,agent=2.54.0"`
//	MaxRetries        int              `yaml:"max_retries,omitempty" until:"2.11.0"`
//	Alerting          *Alerting        `yaml:"alerting,omitempty" mode:"server"`
//	EnableHTTP2       *bool            `yaml:"enable_http2,omitempty" since:"2.35.0,alertmanager=0.25.0"`
//	Scope             string           `yaml:"scope,omitempty" since:"3.9.0,thanos=never"`
//	HTTPClient                         `yaml:",inline"`
//
//	yaml   key; omitempty leaves out zero values, omitnil leaves out nil pointers, maps and lists only
//	since  first version of Prometheus with the key; agent=X when the agent learned it
//	       at another version; alertmanager=X and thanos=X for these programs, never
//	       where none of their versions has it
//	until  first version without the key, in the same form
//	mode   "server" or "agent": never written for the other
//	empty  "drop": the block is left out when nothing inside it survived
//	again  reason why a key has a second place in the order; it is written there
//	       only when the field of its first place is empty
//	reject the field as the user wrote it, for keys that must not get lost: [Rejects]
//	       finds them where the version is below since
//
// A program that a tag does not name has no gate there, whatever the version of
// Prometheus next to it. since, until and mode on an inlined struct count for
// each of its keys. Where a decision belongs to the value and not to the key,
// the value implements [Versioned] or [Gated]; such an item of a list is removed
// and the list kept.
//
// [Marshal] returns the document and everything it left out; it never logs.
// The output is what go.yaml.in/yaml/v2 writes for the same data: block style,
// two spaces, list items not indented below their key, YAML 1.1 quoting. Plans
// are made once per type and target, so the cost is that of writing bytes.
package gate
