package commands

import (
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// ownNamespace is where pods find the name of their namespace.
const ownNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// defaultNamespace is where a person means what has no namespace, as for kubectl: that of the
// kubeconfig's context, or in a cluster that of the pod.
func (o *Options) defaultNamespace() string {
	if config := o.person().kubeconfig(); config != nil {
		if name, _, err := config.Namespace(); err == nil && name != "" {
			return name
		}
		return corev1.NamespaceDefault // who connects says what is wrong with the kubeconfig
	}
	if name, err := os.ReadFile(ownNamespace); err == nil && o.APIServer == "" {
		return strings.TrimSpace(string(name))
	}
	return corev1.NamespaceDefault
}

// person are the options as a person means them: outside of a cluster, and told nothing, they
// name the kubeconfig that kubectl takes, if there is one.
func (o *Options) person() *Options {
	if o.kubeconfig() != nil || o.APIServer != "" || os.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		return o
	}
	if _, missing := os.Stat(clientcmd.RecommendedHomeFile); missing != nil {
		return o
	}
	out := *o
	out.Kubeconfig = clientcmd.RecommendedHomeFile
	return &out
}

// inCluster gives an object that was named without a namespace the default one, unless the
// objects are read from files: these have no context.
func (o *Options) inCluster(s *catalog.Spelling, files ...[]string) {
	for _, list := range files {
		if len(list) > 0 {
			return
		}
	}
	if s.Namespace == "" && !strings.Contains(s.Name, "/") {
		s.Namespace = o.defaultNamespace()
	}
}
