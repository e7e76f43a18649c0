package nearmiss

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// About is a hint about an object of a Kubernetes kind.
type About struct {
	Kind, Namespace, Name string
	Hint                  Hint
}

func (t candidate) about(h Hint) About { return About{t.kind, t.namespace, t.name, h} }

// Fronts returns hints about Services that are meant for the pods of workloads of the operator, such as one that
// an Ingress or Grafana uses, and do not lead to them, and about PodDisruptionBudgets.
func (v *View) Fronts() (out []About) {
	if v.Crowded() {
		return nil
	}
	for _, svc := range v.services {
		if svc.made || len(svc.spec.Selector) == 0 || len(svc.spec.Selector) > maxSelectorWords {
			continue
		}
		behind := v.behind(svc)
		if len(behind) == 0 {
			if p, known := v.fronted(svc); known {
				out = append(out, svc.about(Hint{Code: NoTarget, Field: "spec.selector", Message: fmt.Sprintf(
					"selects pods with %s; those of %s have %s, so it has no endpoints: %s",
					labels.Set(svc.spec.Selector), p, shared(p.labels, svc.spec.Selector), CorrectedLabels(svc.spec.Selector, p.labels))}))
			}
			continue
		}
		if slices.ContainsFunc(behind, func(p pods) bool { return !p.made }) {
			continue
		}
		if h, wrong := behind[0].unreached(svc); wrong {
			out = append(out, svc.about(h))
		}
	}
	return append(out, v.unprotected()...)
}

// CorrectedLabels returns how to change labels of a selector so that they are among those of pods: "remove app, or write
// app.kubernetes.io/name: prometheus".
func CorrectedLabels(selector, own map[string]string) string {
	var remove, write []string
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		value, has := own[key]
		switch {
		case has && value == selector[key]:
		case has:
			write = append(write, key+": "+value)
		case own[wellknown.LabelAppName] == selector[key] && len(selector) == 1:
			write = append(write, wellknown.LabelAppName+": "+selector[key])
		case own[wellknown.LabelAppName] == selector[key] && selector[wellknown.LabelAppName] == "":
			remove = append(remove, fmt.Sprintf("%s, or write %s: %s", key, wellknown.LabelAppName, selector[key]))
		default:
			remove = append(remove, key)
		}
	}
	var out []string
	if len(write) > 0 {
		out = append(out, "write "+strings.Join(write, ", "))
	}
	if len(remove) > 0 {
		out = append(out, "remove "+strings.Join(remove, ", and "))
	}
	return strings.Join(out, "; ")
}

// budget is a PodDisruptionBudget.
type budget struct {
	candidate
	selector *metav1.LabelSelector
}

// addBudget adds a PodDisruptionBudget, and reports whether the object is one.
func (v *View) addBudget(o Object) bool {
	b, is := o.(*policyv1.PodDisruptionBudget)
	if is && b.Spec.Selector != nil {
		v.budgets = append(v.budgets, budget{thingOf("PodDisruptionBudget", b), b.Spec.Selector})
	}
	return is
}

// maxBudgets is the maximum number of PodDisruptionBudgets that are compared with all pods.
const maxBudgets = 100

// unprotected returns notes about PodDisruptionBudgets that select no pods and are probably meant for those of a workload of
// the operator.
func (v *View) unprotected() (out []About) {
	for _, b := range v.budgets[:min(len(v.budgets), maxBudgets)] {
		wanted := b.selector.MatchLabels
		if len(wanted) > maxSelectorWords || len(b.selector.MatchExpressions) > 0 {
			continue
		}
		selector := labels.SelectorFromSet(wanted)
		if selector.Empty() || slices.ContainsFunc(v.pods, func(p pods) bool { return p.namespace == b.namespace && p.matches(selector) }) {
			continue
		}
		for _, p := range v.pods {
			if p.made && p.namespace == b.namespace && (p.marked(wanted) || wanted["app"] != "" && p.labels[wellknown.LabelAppName] == wanted["app"]) {
				out = append(out, b.about(Hint{Code: NoTarget, Note: true, Field: "spec.selector.matchLabels", Message: fmt.Sprintf(
					"selects no pod, so it does not protect those of %s: %s", p, CorrectedLabels(wanted, p.labels))}))
				break
			}
		}
	}
	return out
}

// marked reports whether a selector has a label by which people select the pods of the operator.
func (p pods) marked(selector map[string]string) bool {
	return slices.ContainsFunc(marks, func(key string) bool {
		_, own := p.labels[key]
		_, selected := selector[key]
		return own && selected
	})
}

// marks are keys of labels by which people select the pods of the operator.
var marks = []string{
	wellknown.LabelPrometheus, "alertmanager", wellknown.LabelThanosRuler, "operator.prometheus.io/name",
}

// fronted returns the pods of a workload of the operator that a Service without pods is probably meant for.
func (v *View) fronted(svc service) (pods, bool) {
	selector := labels.SelectorFromSet(svc.spec.Selector)
	for _, p := range v.pods {
		if !p.made || p.namespace != svc.namespace {
			continue
		}
		_, near := misses(selector, p.candidate)
		if near || p.marked(svc.spec.Selector) {
			return p, true
		}
	}
	return pods{}, false
}

// unreached returns a hint if a port of a Service leads to none of the ports on which pods of the operator listen.
func (p pods) unreached(svc service) (Hint, bool) {
	for i, port := range svc.spec.Ports {
		leads := slices.ContainsFunc(p.ports, func(c corev1.ContainerPort) bool {
			switch {
			case port.TargetPort.StrVal != "":
				return c.Name == port.TargetPort.StrVal
			case port.TargetPort.IntVal != 0:
				return c.ContainerPort == port.TargetPort.IntVal
			}
			return c.ContainerPort == port.Port
		})
		if leads {
			continue
		}
		target := strconv.Quote(port.TargetPort.StrVal)
		if port.TargetPort.StrVal == "" {
			target = targetOf(port)
		}
		remedy := onLoopback([]pods{p})
		if remedy == "" && p.lacksSidecar(port) {
			remedy = ": the sidecar of Thanos, which has this port, exists only with spec.thanos of the Prometheus"
		}
		if remedy == "" {
			remedy = ": correct targetPort"
		}
		return Hint{Code: NoTarget, Field: fmt.Sprintf("spec.ports[%d].targetPort", i), Message: fmt.Sprintf(
			"leads to port %s, and the pods of %s declare %s%s", target, p, containerPorts(p.ports), remedy)}, true
	}
	return Hint{}, false
}

// lacksSidecar reports whether a port is one of the sidecar of Thanos, which the pods of a Prometheus do not have.
func (p pods) lacksSidecar(port corev1.ServicePort) bool {
	if p.labels[wellknown.LabelAppName] != "prometheus" || slices.Contains(p.containers, workload.ContainerThanos) {
		return false
	}
	const grpc, http = 10901, 10902
	return port.TargetPort.StrVal == "grpc" || port.Port == grpc || port.Port == http || port.TargetPort.IntVal == grpc || port.TargetPort.IntVal == http
}

// ReadAnnotations reports whether jobs with these uses may read annotations of Services and pods: the relabelings of
// ScrapeConfigs may.
func ReadAnnotations(uses []Use) bool {
	return slices.ContainsFunc(uses, func(u Use) bool {
		return u.Kind == "ScrapeConfig" && slices.ContainsFunc(u.Searches, func(s Search) bool { return s.Role != "" })
	})
}

// Annotated returns notes about Services and pods that are to be scraped by their annotations and that no monitor selects.
func (v *View) Annotated() (out []About) {
	if v.Crowded() {
		return nil
	}
	note := func(t candidate, field string) {
		out = append(out, t.about(Hint{Code: NoTarget, Note: true, Field: field, Message: fmt.Sprintf(
			"no monitor selects this %s, and nothing here reads annotations: write a %s, or a scrape configuration of your own that discovers by annotations", t.kind, monitorFor[t.kind])}))
	}
	seen := map[string]bool{}
	for _, svc := range v.services {
		behind := v.behind(svc)
		if v.claimsOf[svc.String()] != nil || slices.ContainsFunc(behind, func(p pods) bool { return v.claimsOf[p.String()] != nil }) {
			for _, p := range behind {
				seen[p.String()] = true
			}
			continue
		}
		if svc.annotations[annotatedScrape] != "true" {
			continue
		}
		for _, p := range behind {
			seen[p.String()] = true
		}
		note(svc.candidate, "metadata.annotations["+strconv.Quote(annotatedScrape)+"]")
	}
	for _, p := range v.pods {
		if field := monitorFor[p.kind]; field != "" && p.annotations[annotatedScrape] == "true" && !seen[p.String()] && v.claimsOf[p.String()] == nil && !p.made {
			path := "spec.template.metadata.annotations[" + strconv.Quote(annotatedScrape) + "]"
			if p.kind == "Pod" {
				path = "metadata.annotations[" + strconv.Quote(annotatedScrape) + "]"
			}
			note(p.candidate, path)
		}
	}
	return out[:min(len(out), maxAnnotated)]
}

// maxAnnotated is the maximum number of notes about annotations, which a cluster may have everywhere.
const maxAnnotated = 10

// monitorFor are the monitors for the kinds of objects with annotations.
var monitorFor = map[string]string{"Service": "ServiceMonitor", "Pod": "PodMonitor", "Deployment": "PodMonitor", "StatefulSet": "PodMonitor", "DaemonSet": "PodMonitor"}
