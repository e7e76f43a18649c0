package workload

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// PodSpec returns the pod spec for the fields that all kinds share. Unset fields remain
// absent, and the caller adds containers and volumes. The result shares memory with w.
func PodSpec(w *v1.WorkloadFields, defaultGraceSeconds int64) corev1.PodSpec {
	spec := corev1.PodSpec{
		NodeSelector:                  w.NodeSelector,
		Affinity:                      w.Affinity,
		Tolerations:                   w.Tolerations,
		SchedulerName:                 w.SchedulerName,
		PriorityClassName:             w.PriorityClassName,
		ServiceAccountName:            w.ServiceAccountName,
		SecurityContext:               w.SecurityContext,
		EnableServiceLinks:            w.EnableServiceLinks,
		HostUsers:                     w.HostUsers,
		HostAliases:                   hostAliases(w.HostAliases),
		DNSPolicy:                     corev1.DNSPolicy(w.DNSPolicy),
		DNSConfig:                     dnsConfig(w.DNSConfig),
		TerminationGracePeriodSeconds: new(defaultGraceSeconds),
	}
	if len(w.ImagePullSecrets) > 0 {
		spec.ImagePullSecrets = w.ImagePullSecrets
	}
	if w.TerminationGracePeriodSeconds != nil {
		spec.TerminationGracePeriodSeconds = w.TerminationGracePeriodSeconds
	}
	return spec
}

func hostAliases(in []v1.HostAlias) []corev1.HostAlias {
	var out []corev1.HostAlias
	for _, a := range in {
		out = append(out, corev1.HostAlias{IP: a.IP, Hostnames: a.Hostnames})
	}
	return out
}

func dnsConfig(in *v1.PodDNSConfig) *corev1.PodDNSConfig {
	if in == nil {
		return nil
	}
	out := &corev1.PodDNSConfig{Nameservers: in.Nameservers, Searches: in.Searches}
	for _, o := range in.Options {
		option := corev1.PodDNSConfigOption{Name: o.Name}
		if o.Value != "" {
			option.Value = new(o.Value)
		}
		out.Options = append(out.Options, option)
	}
	return out
}
