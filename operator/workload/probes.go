package workload

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ExecProbeHost is the host name for probes that run in a container.
const ExecProbeHost = "localhost"

// ExecHandler probes a server that only listens inside the pod. "exec" prevents zombie
// processes, and "--fail" makes curl fail on 503. Like the kubelet, it does not verify
// the certificate of an https URL.
func ExecHandler(url string) corev1.ProbeHandler {
	curl, wget := "curl --fail", "wget -q -O /dev/null"
	if strings.HasPrefix(url, "https:") {
		curl, wget = curl+" --insecure", wget+" --no-check-certificate"
	}
	script := fmt.Sprintf(
		`if [ -x "$(command -v curl)" ]; then exec %s %s; elif [ -x "$(command -v wget)" ]; then exec %s %s; else exit 1; fi`,
		curl, url, wget, url)
	return corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", script}}}
}

// ownProbeTimeout is longer than the default of 1 s: the program needs 10 ms of CPU time, and has 1 % of a CPU.
const ownProbeTimeout = 10

// ownProbe probes a reloader that only listens inside the pod with its own program: its image has no shell.
func ownProbe(program, url string) corev1.Probe {
	return corev1.Probe{
		ProbeHandler:   corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{program, probeFlag + url}}},
		TimeoutSeconds: ownProbeTimeout,
	}
}

// probeFlag is the beginning of the argument of a program that probes itself.
const probeFlag = "--probe="

// OwnProbe reports whether a probe runs the program of a reloader.
func OwnProbe(p *corev1.Probe) bool {
	return p != nil && p.Exec != nil && len(p.Exec.Command) == 2 && strings.HasPrefix(p.Exec.Command[1], probeFlag)
}

// HTTPProbe probes an endpoint of a server that listens outside the pod.
func (b *Base) HTTPProbe(endpoint string) corev1.ProbeHandler {
	get := &corev1.HTTPGetAction{Path: urlPath(b.Endpoint(endpoint)), Port: intstr.FromString(b.PortName())}
	if b.WebConfig().TLS() {
		get.Scheme = corev1.URISchemeHTTPS
	}
	return corev1.ProbeHandler{HTTPGet: get}
}
