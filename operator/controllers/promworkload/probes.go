package promworkload

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const (
	probeTimeoutSeconds  = 3
	probePeriodSeconds   = 5
	readinessMaxFailures = 3
	livenessMaxFailures  = 6

	// Without spec.maximumStartupDurationSeconds, a start may take 15 minutes.
	startupPeriodSeconds = 15
	startupMaxFailures   = 60
	minStartupSeconds    = 60

	readinessPath = "/-/ready"
	livenessPath  = "/-/healthy"
)

// probe is a row of the table of probes of the prometheus container.
type probe struct {
	path                string
	period, maxFailures int32
	of                  func(*corev1.Container) **corev1.Probe
}

// addProbes adds the probes to the prometheus container.
//
// The startup probe checks readiness: the health endpoint is up before the write-ahead
// log has been replayed, so it would not cover the replay.
func (b *Builder) addProbes(c *corev1.Container) {
	period, failures := startupBudget(b.common.MaximumStartupDurationSeconds)
	for _, p := range []probe{
		{readinessPath, period, failures, func(c *corev1.Container) **corev1.Probe { return &c.StartupProbe }},
		{readinessPath, probePeriodSeconds, readinessMaxFailures, func(c *corev1.Container) **corev1.Probe { return &c.ReadinessProbe }},
		{livenessPath, probePeriodSeconds, livenessMaxFailures, func(c *corev1.Container) **corev1.Probe { return &c.LivenessProbe }},
	} {
		*p.of(c) = &corev1.Probe{
			ProbeHandler:     b.probeHandler(p.path),
			TimeoutSeconds:   probeTimeoutSeconds,
			PeriodSeconds:    p.period,
			FailureThreshold: p.maxFailures,
		}
	}
}

// startupBudget spreads the maximum startup time over probes that are about a minute
// apart: 129 seconds are 3 probes, one every 43 seconds. If the time is unset or too
// short, it returns the default of 15 minutes.
func startupBudget(max *int32) (period, failures int32) {
	if max == nil || *max < minStartupSeconds {
		return startupPeriodSeconds, startupMaxFailures
	}
	failures = ceilDiv(*max, 60)
	return ceilDiv(*max, failures), failures
}

func ceilDiv(a, b int32) int32 { return int32((int64(a) + int64(b) - 1) / int64(b)) }

func (b *Builder) probeHandler(endpoint string) corev1.ProbeHandler {
	if b.common.ListenLocal {
		return workload.ExecHandler(b.WebConfig().Scheme() + "://" + workload.HostPort(workload.ExecProbeHost, webPort) + workload.ShellPath(b.Endpoint(endpoint)))
	}
	return b.HTTPProbe(endpoint)
}
