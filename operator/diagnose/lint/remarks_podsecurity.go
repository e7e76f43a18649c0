package lint

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// enforced is the label of a Namespace with the level of the Pod Security Standards that its pods must meet.
const enforced = "pod-security.kubernetes.io/enforce"

// podSecurityRemark reports pods that the API server refuses, because their Namespace enforces a level of the
// Pod Security Standards that they do not meet.
func (l *linter) podSecurityRemark(self Finding, w dryrun.Workload, pod *corev1.PodSpec) {
	labels, _ := l.objects.NamespaceLabels(w.Object.GetNamespace())
	level := labels[enforced]
	var lacks []string
	switch level {
	case "baseline":
		lacks = belowBaseline(pod)
	case "restricted":
		lacks = append(belowBaseline(pod), belowRestricted(pod)...)
	}
	if len(lacks) == 0 {
		return
	}
	l.say(self)("spec.securityContext", "namespace %s enforces the Pod Security level %s (label %s), and the API server refuses pods without it: write %s", w.Object.GetNamespace(), level, enforced, strings.Join(lacks, ", "))
}

// belowBaseline returns what a pod must change for the level baseline.
func belowBaseline(pod *corev1.PodSpec) (out []string) {
	if pod.HostNetwork {
		out = append(out, "hostNetwork: false")
	}
	if slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil }) {
		out = append(out, "no hostPath in volumes")
	}
	for _, c := range containersOf(pod) {
		if s := c.SecurityContext; s != nil && ptr.Deref(s.Privileged, false) {
			out = append(out, "privileged: false in container "+c.Name)
		}
	}
	return out
}

// belowRestricted returns what a pod must change for the level restricted beyond baseline.
func belowRestricted(pod *corev1.PodSpec) (out []string) {
	of := cmp.Or(pod.SecurityContext, &corev1.PodSecurityContext{})
	var user, not, profile, more bool
	for _, c := range containersOf(pod) {
		own := cmp.Or(c.SecurityContext, &corev1.SecurityContext{})
		id := cmp.Or(own.RunAsUser, of.RunAsUser)
		user = user || id != nil && *id == 0
		not = not || !ptr.Deref(cmp.Or(own.RunAsNonRoot, of.RunAsNonRoot), false)
		profile = profile || !confined(cmp.Or(own.SeccompProfile, of.SeccompProfile))
		more = more || own.AllowPrivilegeEscalation == nil || *own.AllowPrivilegeEscalation ||
			own.Capabilities == nil || !slices.Contains(own.Capabilities.Drop, "ALL")
	}
	for _, need := range []struct {
		missing bool
		text    string
	}{
		{user, "runAsUser: 1000"}, {not, "runAsNonRoot: true"}, {profile, "seccompProfile: {type: RuntimeDefault}"},
		{more, "allowPrivilegeEscalation: false and capabilities: {drop: [ALL]} in the securityContext of your containers"},
	} {
		if need.missing {
			out = append(out, need.text)
		}
	}
	return out
}

// confined reports whether the level restricted allows a profile.
func confined(p *corev1.SeccompProfile) bool {
	return p != nil && p.Type != corev1.SeccompProfileTypeUnconfined
}

func containersOf(pod *corev1.PodSpec) []corev1.Container {
	return slices.Concat(pod.InitContainers, pod.Containers)
}
