package commands

import (
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// namespaceFile is the file in which the kubelet stores the namespace of the pod.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// podNamespace returns the namespace of the pod in which the program runs.
//
// Errors: os.ErrNotExist outside of a pod.
func podNamespace() (string, error) {
	name, err := os.ReadFile(namespaceFile)
	return strings.TrimSpace(string(name)), err
}

// defaultNamespace returns the default namespace, like kubectl: that of the kubeconfig's
// context or, in a cluster, that of the pod.
func (o *connection) defaultNamespace() string {
	if config := o.person().kubeconfig(); config != nil {
		if name, _, err := config.Namespace(); err == nil && name != "" {
			return name
		}
		return corev1.NamespaceDefault // errors in the kubeconfig are reported when connecting
	}
	if name, err := podNamespace(); err == nil && o.APIServer == "" {
		return name
	}
	return corev1.NamespaceDefault
}

// inCluster sets the default namespace of an object that was named without one, unless the
// objects are read from files, which have no context.
func (o *connection) inCluster(s *catalog.Spelling, files ...[]string) {
	for _, list := range files {
		if len(list) > 0 {
			return
		}
	}
	if s.Namespace == "" && !strings.Contains(s.Name, "/") {
		s.Namespace = o.defaultNamespace()
	}
}
