package workload

import corev1 "k8s.io/api/core/v1"

// PortName returns the name of the server's port.
func (b *Base) PortName() string {
	if b.Fields.PortName == "" {
		return "web"
	}
	return b.Fields.PortName
}

// WebPorts returns the HTTP ports of the server's container.
func (b *Base) WebPorts() []corev1.ContainerPort {
	if b.Fields.ListenLocal {
		return nil
	}
	return []corev1.ContainerPort{{Name: b.PortName(), ContainerPort: b.Kind.Port, Protocol: corev1.ProtocolTCP}}
}
