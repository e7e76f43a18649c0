package workload

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// PodSpec returns the pod spec for the fields that all kinds share. Unset fields remain
// absent. The caller adds the containers and volumes of its kind, and then calls
// [Base.PodTemplate]. The result shares memory with the workload.
func (b *Base) PodSpec() corev1.PodSpec {
	w := b.Fields
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
		TerminationGracePeriodSeconds: new(b.Kind.GraceSeconds),
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
