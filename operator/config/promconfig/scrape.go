package promconfig

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// JobHead is what the jobs of ServiceMonitors and PodMonitors begin with.
type JobHead struct {
	// JobName is kind/namespace/name/endpoint.
	JobName string `yaml:"job_name"`
	// HonorLabels keeps labels of the target that collide with the server's.
	HonorLabels bool `yaml:"honor_labels"`
	// HonorTimestamps keeps timestamps of the target.
	HonorTimestamps *bool `yaml:"honor_timestamps,omitempty" since:"2.9.0"`
	// TrackTimestampsStaleness marks series with own timestamps stale.
	TrackTimestampsStaleness *bool `yaml:"track_timestamps_staleness,omitempty" since:"2.48.0"`
	// KubernetesSD has exactly one entry.
	KubernetesSD []*KubernetesSD `yaml:"kubernetes_sd_configs"`
	// ScrapeInterval of the job.
	ScrapeInterval v1.Duration `yaml:"scrape_interval,omitempty"`
	// ScrapeTimeout of the job, at most the interval.
	ScrapeTimeout v1.Duration `yaml:"scrape_timeout,omitempty"`
	// MetricsPath is the HTTP path.
	MetricsPath string `yaml:"metrics_path,omitempty"`
	// Params of the URL.
	Params map[string][]string `yaml:"params,omitnil"`
	// Scheme is http or https.
	Scheme string `yaml:"scheme,omitempty"`
	// FollowRedirects of the target.
	FollowRedirects *bool `yaml:"follow_redirects,omitempty" since:"2.26.0"`
	// EnableHTTP2 towards the target.
	EnableHTTP2 *bool `yaml:"enable_http2,omitempty" since:"2.35.0"`
}

// JobTail is what the jobs of ServiceMonitors and PodMonitors end with.
type JobTail struct {
	// RelabelConfigs are applied to targets before the scrape.
	RelabelConfigs []Step `yaml:"relabel_configs,omitempty"`
	// JobLimits of the job.
	JobLimits `yaml:",inline"`
	// NativeHistograms of the job.
	NativeHistograms `yaml:",inline"`
	// ScrapeProtocols in order of preference; the server refuses an empty list.
	ScrapeProtocols []ScrapeProtocol `yaml:"scrape_protocols,omitempty" since:"2.49.0" empty:"drop"`
	// FallbackScrapeProtocol for responses without a usable content type.
	FallbackScrapeProtocol ScrapeProtocol `yaml:"fallback_scrape_protocol,omitempty" since:"3.0.0"`
	// BodySizeLimit of one scrape: number and unit, powers of 1024.
	BodySizeLimit v1.ByteSize `yaml:"body_size_limit,omitempty" since:"2.28.0"`
	// MetricRelabelConfigs are applied to samples after the scrape.
	MetricRelabelConfigs []Step `yaml:"metric_relabel_configs,omitempty"`
}

// ScrapeProtocol is one of the exposition formats.
type ScrapeProtocol v1.ScrapeProtocol

// Since is the first version that accepts the value.
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
	// ScrapeNativeHistograms turns native histograms on.
	ScrapeNativeHistograms *bool `yaml:"scrape_native_histograms,omitempty" since:"3.8.0"`
	// BucketLimit of one histogram.
	BucketLimit *uint64 `yaml:"native_histogram_bucket_limit,omitempty" since:"2.45.0"`
	// MinBucketFactor by which a bucket is wider than the one before.
	MinBucketFactor *float64 `yaml:"native_histogram_min_bucket_factor,omitempty" since:"2.50.0"`
	// ScrapeClassic is the name of major version 2 for AlwaysScrapeClassic.
	ScrapeClassic *bool `yaml:"scrape_classic_histograms,omitempty" since:"2.45.0"`
	// AlwaysScrapeClassic keeps classic histograms besides native ones.
	AlwaysScrapeClassic *bool `yaml:"always_scrape_classic_histograms,omitempty"`
	// ConvertClassicToNHCB stores classic histograms as native ones with custom buckets.
	ConvertClassicToNHCB *bool `yaml:"convert_classic_histograms_to_nhcb,omitempty" since:"3.0.0"`
}

// nativeHistograms writes either name of the renamed key, never both.
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

// number reads a quantity as the decimal number it spells: "0.3" is 0.3 and not
// the 0.30000000000000004 that a product of powers of ten gives.
func number(q *resource.Quantity) *float64 {
	if q == nil {
		return nil
	}
	copied := q.DeepCopy()
	f, err := strconv.ParseFloat(copied.AsDec().String(), 64)
	if err != nil { // cannot happen: AsDec prints digits
		return nil
	}
	return &f
}

// honorTimestamps is the value to write; an override wins over everything and
// is written even when the monitor says nothing.
func honorTimestamps(user *bool, override bool) *bool {
	if override {
		return new(false)
	}
	return user
}

// lower spells enum values that users may write in two ways.
func lower[S ~string](s S) string { return strings.ToLower(string(s)) }
