package promconfig

import v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"

// tailInput holds the inputs for the end of a job.
type tailInput struct {
	limits        v1.ScrapeLimits
	histograms    v1.NativeHistogramConfig
	protocols     []v1.ScrapeProtocol
	fallback      v1.ScrapeProtocol
	bodySize      v1.ByteSize
	class         *v1.ScrapeClass
	metricRelabel []v1.RelabelConfig
	enforced      Step // nil if no namespace label is enforced
}

// tail returns the end of a job, without its relabel steps.
func (c *compiler) tail(in tailInput) JobTail {
	out := JobTail{
		JobLimits:              c.s.data.Enforced.job(in.limits, c.s.target),
		NativeHistograms:       nativeHistograms(in.histograms, c.s.target),
		ScrapeProtocols:        scrapeProtocols(in.protocols),
		FallbackScrapeProtocol: ScrapeProtocol(in.fallback),
		BodySizeLimit:          c.s.data.Enforced.jobBodySize(in.bodySize),
	}
	if in.fallback == "" {
		out.FallbackScrapeProtocol = ScrapeProtocol(in.class.FallbackScrapeProtocol)
	}
	steps := appendRelabel(nil, in.class.MetricRelabelConfigs)
	steps = appendRelabel(steps, in.metricRelabel)
	if in.enforced != nil {
		steps = append(steps, in.enforced)
	}
	out.MetricRelabelConfigs = steps
	return out
}
