package workload

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	probeTimeoutSeconds  = 3
	probePeriodSeconds   = 5
	readinessMaxFailures = 3
	livenessMaxFailures  = 6

	// Without spec.maximumStartupDurationSeconds a start may take 15 minutes.
	startupPeriodSeconds = 15
	startupMaxFailures   = 60
	minStartupSeconds    = 60

	readinessPath = "/-/ready"
	livenessPath  = "/-/healthy"
	execProbeHost = "localhost"
)

// probe is one probe of the prometheus container as the table has it.
type probe struct {
	path                string
	period, maxFailures int32
	of                  func(*corev1.Container) **corev1.Probe
}

// addProbes puts the probes on the prometheus container.
//
// The start-up probe asks for readiness: the health endpoint answers while the
// write-ahead log is still replayed, so it would not cover the replay.
func (o *Owner) addProbes(c *corev1.Container) {
	period, failures := startupBudget(o.common.MaximumStartupDurationSeconds)
	for _, p := range []probe{
		{readinessPath, period, failures, func(c *corev1.Container) **corev1.Probe { return &c.StartupProbe }},
		{readinessPath, probePeriodSeconds, readinessMaxFailures, func(c *corev1.Container) **corev1.Probe { return &c.ReadinessProbe }},
		{livenessPath, probePeriodSeconds, livenessMaxFailures, func(c *corev1.Container) **corev1.Probe { return &c.LivenessProbe }},
	} {
		*p.of(c) = &corev1.Probe{
			ProbeHandler:     o.probeHandler(o.endpoint(p.path)),
			TimeoutSeconds:   probeTimeoutSeconds,
			PeriodSeconds:    p.period,
			FailureThreshold: p.maxFailures,
		}
	}
}

// startupBudget spreads the time a start may take over probes about a minute
// apart: 129 seconds are 3 probes, one every 43 seconds. Too short or no time
// gives the default of 15 minutes.
func startupBudget(max *int32) (period, failures int32) {
	if max == nil || *max < minStartupSeconds {
		return startupPeriodSeconds, startupMaxFailures
	}
	failures = ceilDiv(*max, 60)
	return ceilDiv(*max, failures), failures
}

func ceilDiv(a, b int32) int32 { return int32((int64(a) + int64(b) - 1) / int64(b)) }

func (o *Owner) probeHandler(at string) corev1.ProbeHandler {
	if o.common.ListenLocal {
		return execHandler(o.scheme() + "://" + hostPort(execProbeHost, webPort) + shellPath(at))
	}
	get := &corev1.HTTPGetAction{Path: urlPath(at), Port: intstr.FromString(o.portName())}
	if o.servesTLS() {
		get.Scheme = corev1.URISchemeHTTPS
	}
	return corev1.ProbeHandler{HTTPGet: get}
}

// execHandler asks a server that only listens inside the pod. "exec" leaves no
// zombie processes, "--fail" makes curl fail on 503. An https URL is asked
// without checking the certificate, as the kubelet does it.
func execHandler(url string) corev1.ProbeHandler {
	curl, wget := "curl --fail", "wget -q -O /dev/null"
	if strings.HasPrefix(url, "https:") {
		curl, wget = curl+" --insecure", wget+" --no-check-certificate"
	}
	script := fmt.Sprintf(
		`if [ -x "$(command -v curl)" ]; then exec %s %s; elif [ -x "$(command -v wget)" ]; then exec %s %s; else exit 1; fi`,
		curl, url, wget, url)
	return corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", script}}}
}
