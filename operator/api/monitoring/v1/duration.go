package v1

// Duration is a span of time in the notation of Prometheus: integers with
// the units y, w, d, h, m, s and ms in that order, such as `30s` or `1h30m`, or
// a plain `0`. The empty string passes the pattern too and means "not set".
//
// +kubebuilder:validation:Pattern=`^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$`
type Duration string

// NonEmptyDuration is a Duration that must not be the empty string.
//
// +kubebuilder:validation:Pattern=`^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$`
// +kubebuilder:validation:MinLength=1
type NonEmptyDuration string

// GoDuration is a span of time that Go's time.ParseDuration understands, limited
// to the units h, m, s and ms: `120h`, `1m30s`. Alertmanager's command line takes
// this notation.
//
// +kubebuilder:validation:Pattern=`^(0|(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$`
type GoDuration string

// ByteSize is an amount of memory or disk in the notation of Prometheus: a
// number with a unit from B to PB or KiB to PiB, all of which count in powers of
// 1024, such as `512MB`. A plain `0` needs no unit.
//
// +kubebuilder:validation:Pattern=`(^0|([0-9]*[.])?[0-9]+((K|M|G|T|E|P)i?)?B)$`
type ByteSize string
