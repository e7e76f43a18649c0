package adversary

import (
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/dev/objects"
)

// documents reads the manifests of a file.
func documents(path string) ([]*unstructured.Unstructured, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return objects.Parse(text)
}

// container is the part of a Deployment of deploy/ that is used: arguments and memory limit.
type container struct {
	args  []string
	limit int64
}

// shipped reads the first container of the Deployment in a file.
func shipped(path string) (container, error) {
	all, err := documents(path)
	if err != nil {
		return container{}, err
	}
	for _, o := range all {
		if o.GetKind() != "Deployment" {
			continue
		}
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			return container{}, err
		}
		var d appsv1.Deployment
		if err := yaml.Unmarshal(text, &d); err != nil {
			return container{}, err
		}
		return containerOf(path, &d.Spec.Template.Spec.Containers[0])
	}
	return container{}, fmt.Errorf("%s: no Deployment", path)
}

func containerOf(where string, c *corev1.Container) (container, error) {
	limit := c.Resources.Limits.Memory().Value()
	if limit == 0 {
		return container{}, fmt.Errorf("%s: container %s has no memory limit", where, c.Name)
	}
	return container{args: c.Args, limit: limit}, nil
}
