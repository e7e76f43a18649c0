package adversary

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// documents reads the manifests of a file.
func documents(path string) ([]*unstructured.Unstructured, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(text)
}

func parse(text []byte) (out []*unstructured.Unstructured, err error) {
	for docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(doc, &o.Object); err != nil {
			return nil, err
		}
		if len(o.Object) > 0 {
			out = append(out, o)
		}
	}
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
