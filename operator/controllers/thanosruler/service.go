package thanosruler

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ServicePorts returns the ports of the shared Service, or none if it is not used.
func (o *Owner) ServicePorts() []corev1.ServicePort {
	if o.CustomService() {
		return nil
	}
	return []corev1.ServicePort{
		{Name: o.PortName(), Port: ServerPort, TargetPort: intstr.FromString(o.PortName())},
		{Name: grpcPortName, Port: grpcPort, TargetPort: intstr.FromString(grpcPortName)},
	}
}
