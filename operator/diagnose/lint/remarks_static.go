package lint

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// urlTarget splits a target into scheme, address and path.
var urlTarget = lazyregexp.New(`^(?:([a-zA-Z]+)://)?([^/@]*)(/.*)?$`)

// staticTargets reports static targets with a scheme or path, which belong to the job.
func staticTargets(say says, m *v1alpha1.ScrapeConfig) {
	for i, s := range m.Spec.StaticConfigs {
		for j, target := range s.Targets {
			if field := fmt.Sprintf("spec.staticConfigs[%d].targets[%d]", i, j); strings.ContainsAny(string(target), ", \t\n") {
				listRemark(say, field, string(target))
				continue
			}
			if host, port, is := strings.Cut(string(target), ":"); is && !strings.Contains(port, ":") && !strings.Contains(port, "/") && host != "" {
				if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
					say(fmt.Sprintf("spec.staticConfigs[%d].targets[%d]", i, j), "%q is no number of a port, from 1 to 65535, so each scrape of the target fails", port)
					continue
				}
			}
			part := urlTarget.FindStringSubmatch(string(target))
			if part == nil || part[1] == "" && part[3] == "" {
				continue
			}
			instead := "write " + part[2]
			if part[1] != "" {
				instead += fmt.Sprintf(", with spec.scheme: %s", strings.ToUpper(part[1]))
			}
			if len(part[3]) > 1 {
				instead += fmt.Sprintf(", with spec.metricsPath: %s", part[3])
			}
			say(fmt.Sprintf("spec.staticConfigs[%d].targets[%d]", i, j), "want host:port without scheme and path, and Prometheus drops the target; %s", instead)
		}
	}
}

// ownPorts are ports on which the pods of a Prometheus listen.
var ownPorts = []string{"9090", "8080", "8081", "10901", "10902"}

// localTargets reports static targets on the loopback interface of the workload's pod, unless the workload has containers of the
// user, which may listen there. known are the fields of the workload, nil if it is not among the manifests.
func localTargets(note says, m *v1alpha1.ScrapeConfig, known *v1.CommonPrometheusFields) {
	if known == nil || known.HostNetwork || len(known.Containers) > 0 || m.Spec.ProxyURL != "" || slices.ContainsFunc(m.Spec.RelabelConfigs, func(s v1.RelabelConfig) bool { return s.TargetLabel != "" && strings.HasPrefix(s.TargetLabel, "__") }) {
		return
	}
	for i, s := range m.Spec.StaticConfigs {
		for j, target := range s.Targets {
			host, port, err := net.SplitHostPort(target)
			if err == nil && (host == "localhost" || host == "127.0.0.1" || host == "::1") && !slices.Contains(ownPorts, port) {
				note(fmt.Sprintf("spec.staticConfigs[%d].targets[%d]", i, j), "%s is the pod of the Prometheus itself, in which nothing listens on port %s: write the address of the host or Service that has the metrics", host, port)
			}
		}
	}
}

// listRemark reports a static target with commas or blanks, which become part of the name of its host.
func listRemark(say says, field, target string) {
	switch parts := separated(target); {
	case len(parts) == 0:
		say(field, "has no address: write host:port, or remove the item")
	case len(parts) > 1:
		say(field, "is one target, whose host has a comma or a blank in its name; make each address an item of the list")
	case strings.Contains(target, ","):
		say(field, "has a comma before or after it, which is part of the address: remove it")
	default:
		say(field, "has a blank before or after it, which is part of the address: remove it")
	}
}
