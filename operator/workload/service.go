package workload

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// GoverningService is the headless Service that gives pods their names. All
// owners of the kind in a namespace share it: it has a plain owner reference,
// to be merged with those that are there, and selects the pods of all.
func (o *Owner) GoverningService() *corev1.Service {
	meta := o.objectMeta(o.kind.service)
	meta.Labels = overlay(managedBy, map[string]string{LabelOperated: "true"}, o.cfg.Labels)
	meta.OwnerReferences = []metav1.OwnerReference{o.plainReference()}
	ports := []corev1.ServicePort{{Name: o.portName(), Port: webPort, TargetPort: intstr.FromString(o.portName())}}
	if o.thanos() != nil {
		ports = append(ports, corev1.ServicePort{
			Name: thanosGRPCPortName, Port: thanosGRPCPort, TargetPort: intstr.FromString(thanosGRPCPortName),
		})
	}
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta,
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone,
			Ports:     ports,
			Selector:  map[string]string{LabelAppName: o.kind.appName},
		},
	}
}

// CheckService says whether a Service named by spec.serviceName can govern the
// pods of all shards.
func (o *Owner) CheckService(svc *corev1.Service) error {
	own := labels.Set(o.SelectorLabels())
	// A Service without a selector matches everything.
	if labels.SelectorFromSet(svc.Spec.Selector).Matches(own) {
		return nil
	}
	return fmt.Errorf("spec.serviceName: selector %q of service %s/%s does not match the pods' labels %q",
		labels.Set(svc.Spec.Selector).String(), svc.Namespace, svc.Name, own.String())
}
