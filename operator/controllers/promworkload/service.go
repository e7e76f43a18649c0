package promworkload

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ServicePorts returns the ports of the shared Service that the workload needs, or none
// if it does not use the Service.
func (b *Builder) ServicePorts() []corev1.ServicePort {
	if b.CustomService() || b.daemonSet {
		return nil
	}
	out := []corev1.ServicePort{{Name: b.PortName(), Port: webPort, TargetPort: intstr.FromString(b.PortName())}}
	if b.thanos() != nil {
		out = append(out, corev1.ServicePort{
			Name: thanosGRPCPortName, Port: thanosGRPCPort, TargetPort: intstr.FromString(thanosGRPCPortName),
		})
	}
	return out
}
