package status

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
)

// Pod is a pod of the workload.
type Pod struct {
	Name     string `json:"name"`
	Ready    bool   `json:"ready"`
	Message  string `json:"message,omitempty"` // reason why the pod is not ready
	Restarts int32  `json:"restarts"`          // number of restarts of all its containers
	// Outdated is true if the pod has an older revision of its StatefulSet or DaemonSet.
	Outdated bool `json:"outdated,omitempty"`
	// Wanted is the hash of the configuration that the operator has assigned to the pod. Absent if there is none.
	Wanted string `json:"wanted,omitempty"`
	// Runs is yes, no or unknown: whether the pod runs the wanted configuration.
	Runs Runs   `json:"runs"`
	Why  string `json:"why,omitempty"` // reason if the field runs is no or unknown
}

// Runs is whether a pod runs the wanted configuration.
type Runs string

const (
	RunsIt      Runs = "yes"
	RunsOther   Runs = "no"
	RunsUnknown Runs = "unknown"
)

func podsOf(f Facts) (out []Pod) {
	revisions := map[string]string{}
	for _, s := range f.StatefulSets {
		revisions[s.Name] = s.Status.UpdateRevision
	}
	nodes, applied := daemonOf(f.DaemonSet, f.Pods), appliedOf(f.Object)
	for _, p := range f.Pods {
		pod := Pod{Name: p.Name, Ready: engine.PodReady(p)}
		if !pod.Ready {
			pod.Message = engine.PodMessage(p)
		}
		for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
			pod.Restarts += c.RestartCount
		}
		for _, o := range p.OwnerReferences {
			if want := revisions[o.Name]; o.Kind == "StatefulSet" && want != "" {
				pod.Outdated = p.Labels[appsv1.ControllerRevisionHashLabelKey] != want
			}
			if d := f.DaemonSet; d != nil && o.Kind == "DaemonSet" && o.Name == d.Name {
				pod.Outdated = nodes.outdated(p)
			}
		}
		pod.Wanted = delivery.HashOf(p.Annotations[delivery.Annotation])
		pod.Runs, pod.Why = applied.of(p)
		out = append(out, pod)
	}
	slices.SortFunc(out, func(a, b Pod) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// applied is the parsed condition ConfigApplied.
type applied struct {
	known, complete bool              // complete if the message lists all pods with a problem or remark
	good            bool              // all pods run the wanted configuration
	why             string            // reason if not known
	said            map[string]string // by pod: why it does not run the configuration, or a remark
}

func appliedOf(w v1.Workload) (out applied) {
	out = applied{why: "the operator has not reported it", said: map[string]string{}}
	for _, c := range w.GetWorkloadStatus().Conditions {
		if c.Type != v1.ConfigApplied {
			continue
		}
		if c.ObservedGeneration != 0 && c.ObservedGeneration < w.GetGeneration() {
			out.why = "the operator has not reported it since the last change"
			return out
		}
		out.known, out.complete, out.good = true, true, c.Status == v1.ConditionTrue
		lines := strings.Split(c.Message, "\n")
		for _, line := range lines {
			if name, why, ok := strings.Cut(strings.TrimPrefix(line, "pod "), ": "); ok && strings.HasPrefix(line, "pod ") {
				out.said[name] = why
			}
			if strings.HasPrefix(line, "and ") && strings.HasSuffix(line, " more") {
				out.complete = false
			}
		}
		if c.Status == v1.ConditionUnknown && len(out.said) == 0 {
			out.known, out.why = false, lines[0]
		}
	}
	return out
}

// Parts of the operator's messages about a pod that it cannot query, and about a pod that has
// reloaded an unknown configuration.
var (
	silent   = []string{"does not answer", "do not answer", "require credentials"}
	reloaded = []string{"after the last change", "nothing changed since"}
)

func (a applied) of(p *corev1.Pod) (Runs, string) {
	why, named := a.said[p.Name]
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(why, w) })
	}
	switch {
	case !a.known:
		return RunsUnknown, a.why
	case a.good, named && has(reloaded):
		return RunsIt, why
	case named && has(silent):
		return RunsUnknown, why
	case named:
		return RunsOther, why
	case !a.complete:
		return RunsUnknown, "the condition ConfigApplied does not name all pods"
	}
	return RunsIt, ""
}
