// Package gate marshals configuration structs as YAML for one version of the program that reads them.
//
// Field tags state which versions support a key:
//
//	EnableCompression *bool            `yaml:"enable_compression,omitempty" since:"2.49.0"`
//	OutOfOrderWindow  string           `yaml:"out_of_order_time_window,omitempty" since:"2.39.0,agent=2.54.0"`
//	MaxRetries        int              `yaml:"max_retries,omitempty" until:"2.11.0"`
//	Alerting          *Alerting        `yaml:"alerting,omitempty" mode:"server"`
//	EnableHTTP2       *bool            `yaml:"enable_http2,omitempty" since:"2.35.0,alertmanager=0.25.0"`
//	Scope             string           `yaml:"scope,omitempty" since:"3.9.0,thanos=never"`
//	HTTPClient                         `yaml:",inline"`
//
//	yaml   key; omitempty omits zero values, omitnil omits only nil pointers, maps and lists
//	since  first version of Prometheus with the key; agent=X if agent mode supports it
//	       from another version on; alertmanager=X and thanos=X for these programs,
//	       never if no version supports it
//	until  first version without the key, in the same form
//	mode   "server" or "agent": omitted in the other mode
//	empty  "drop": the block is omitted if nothing inside it remains
//	again  reason why a key has a second position in the order; it is written there
//	       only if the field at its first position is empty
//	reject the field as the user wrote it, for keys that must not be dropped: [Rejects]
//	       returns them if the version is below since
//
// A tag does not gate a program that it does not mention, whatever the version in the other entries.
// since, until and mode of an inlined struct apply to each of its keys. If the decision depends on the
// value and not only on the key, the value implements [Versioned] or [Gated]; such an item of a list is
// removed and the list is kept.
//
// [Marshal] returns the document and the list of omitted fields; it never logs. The output equals that of
// go.yaml.in/yaml/v2 for the same data: block style, two spaces, list items not indented below their key,
// YAML 1.1 quoting. Plans are created once per type and target, so marshaling only writes bytes.
package gate
