package alertmanager

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
		{Name: o.PortName(), Port: ServerPort, TargetPort: intstr.FromString(o.PortName()), Protocol: corev1.ProtocolTCP},
		{Name: "tcp-mesh", Port: meshPort, TargetPort: intstr.FromString(meshTCPName), Protocol: corev1.ProtocolTCP},
		{Name: "udp-mesh", Port: meshPort, TargetPort: intstr.FromString(meshUDPName), Protocol: corev1.ProtocolUDP},
	}
}
