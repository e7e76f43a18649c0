package promconfig

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// JobHead is the common beginning of the jobs of ServiceMonitors and PodMonitors.
type JobHead struct {
	// JobName is kind/namespace/name/endpoint.
	JobName string `yaml:"job_name"`
	// HonorLabels keeps labels of the target that conflict with those of the server.
	HonorLabels bool `yaml:"honor_labels"`
	// HonorTimestamps keeps the timestamps of the target.
	HonorTimestamps *bool `yaml:"honor_timestamps,omitempty" since:"2.9.0"`
	// TrackTimestampsStaleness also marks series with explicit timestamps as stale.
	TrackTimestampsStaleness *bool `yaml:"track_timestamps_staleness,omitempty" since:"2.48.0"`
	// KubernetesSD has one entry, or none with central discovery.
	KubernetesSD []*KubernetesSD `yaml:"kubernetes_sd_configs,omitempty"`
	// Listed has one entry with central discovery.
	Listed []*ListedSD `yaml:"http_sd_configs,omitempty"`
	// ScrapeInterval of the job.
	ScrapeInterval v1.Duration `yaml:"scrape_interval,omitempty"`
	// ScrapeTimeout of the job, at most the interval.
	ScrapeTimeout v1.Duration `yaml:"scrape_timeout,omitempty"`
	// MetricsPath is the HTTP path.
	MetricsPath string `yaml:"metrics_path,omitempty"`
	// Params are the URL parameters.
	Params map[string][]string `yaml:"params,omitnil"`
	// Scheme is http or https.
	Scheme string `yaml:"scheme,omitempty"`
	// FollowRedirects enables following HTTP redirects.
	FollowRedirects *bool `yaml:"follow_redirects,omitempty" since:"2.26.0"`
	// EnableHTTP2 enables HTTP/2 for connections to the target.
	EnableHTTP2 *bool `yaml:"enable_http2,omitempty" since:"2.35.0"`
}

// JobTail is the common end of the jobs of ServiceMonitors and PodMonitors.
type JobTail struct {
	// RelabelConfigs are applied to targets before the scrape.
	RelabelConfigs []Step `yaml:"relabel_configs,omitempty"`
	// JobLimits are the limits of the job.
	JobLimits `yaml:",inline"`
	// NativeHistograms are the histogram settings of the job.
	NativeHistograms `yaml:",inline"`
	// ScrapeProtocols are in order of preference. The server rejects an empty list.
	ScrapeProtocols []ScrapeProtocol `yaml:"scrape_protocols,omitempty" since:"2.49.0" empty:"drop"`
	// FallbackScrapeProtocol is used for responses without a valid content type.
	FallbackScrapeProtocol ScrapeProtocol `yaml:"fallback_scrape_protocol,omitempty" since:"3.0.0"`
	// BodySizeLimit of one scrape: number and unit, powers of 1024.
	BodySizeLimit v1.ByteSize `yaml:"body_size_limit,omitempty" since:"2.28.0"`
	// MetricRelabelConfigs are applied to samples after the scrape.
	MetricRelabelConfigs []Step `yaml:"metric_relabel_configs,omitempty"`
}

// ScrapeProtocol is an exposition format.
type ScrapeProtocol v1.ScrapeProtocol

// Since returns the first version that accepts the value.
func (p ScrapeProtocol) Since() string {
	if p == ScrapeProtocol(v1.PrometheusText1_0_0) {
		return "3.0.0-rc.0"
	}
	return ""
}

func scrapeProtocols(in []v1.ScrapeProtocol) []ScrapeProtocol {
	out := make([]ScrapeProtocol, len(in))
	for i, p := range in {
		out[i] = ScrapeProtocol(p)
	}
	return out
}

// NativeHistograms are the histogram settings of one job.
type NativeHistograms struct {
	// ScrapeNativeHistograms enables scraping native histograms.
	ScrapeNativeHistograms *bool `yaml:"scrape_native_histograms,omitempty" since:"3.8.0"`
	// BucketLimit is the maximum number of buckets of a histogram.
	BucketLimit *uint64 `yaml:"native_histogram_bucket_limit,omitempty" since:"2.45.0"`
	// MinBucketFactor is the minimum growth factor from one bucket to the next.
	MinBucketFactor *float64 `yaml:"native_histogram_min_bucket_factor,omitempty" since:"2.50.0"`
	// ScrapeClassic is the key for AlwaysScrapeClassic in major version 2.
	ScrapeClassic *bool `yaml:"scrape_classic_histograms,omitempty" since:"2.45.0"`
	// AlwaysScrapeClassic also scrapes classic histograms that have native counterparts.
	AlwaysScrapeClassic *bool `yaml:"always_scrape_classic_histograms,omitempty"`
	// ConvertClassicToNHCB stores classic histograms as native ones with custom buckets.
	ConvertClassicToNHCB *bool `yaml:"convert_classic_histograms_to_nhcb,omitempty" since:"3.0.0"`
}

// nativeHistograms sets one of the two names of the renamed key, depending on the version.
func nativeHistograms(c v1.NativeHistogramConfig, t gate.Target) NativeHistograms {
	out := NativeHistograms{
		ScrapeNativeHistograms: c.ScrapeNativeHistograms,
		BucketLimit:            c.NativeHistogramBucketLimit,
		MinBucketFactor:        number(c.NativeHistogramMinBucketFactor),
		ConvertClassicToNHCB:   c.ConvertClassicHistogramsToNHCB,
	}
	if major3(t) {
		out.AlwaysScrapeClassic = c.ScrapeClassicHistograms
	} else {
		out.ScrapeClassic = c.ScrapeClassicHistograms
	}
	return out
}

// number converts a quantity to the float64 with the same decimal representation: "0.3"
// is 0.3 rather than 0.30000000000000004, the result of multiplying powers of ten.
func number(q *resource.Quantity) *float64 {
	if q == nil {
		return nil
	}
	copied := q.DeepCopy()
	f, err := strconv.ParseFloat(copied.AsDec().String(), 64)
	if err != nil { // never happens: AsDec prints digits
		return nil
	}
	return &f
}

// honorTimestamps returns the value to write. An override takes precedence and is written
// even if the monitor does not set the field.
func honorTimestamps(user *bool, override bool) *bool {
	if override {
		return new(false)
	}
	return user
}

// lower normalizes enum values, which users may write in two ways.
func lower[S ~string](s S) string { return strings.ToLower(string(s)) }
