// Package objects reads the objects of manifests.
package objects

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Parse returns the objects of a YAML stream and of the Lists in it.
//
// Errors: invalid YAML, with the document.
func Parse(manifests []byte) (out []*unstructured.Unstructured, err error) {
	for docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifests))); ; {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(doc, &o.Object); err != nil {
			return nil, fmt.Errorf("%w in\n%s", err, doc)
		}
		switch {
		case len(o.Object) == 0:
		case o.IsList():
			err = o.EachListItem(func(item runtime.Object) error {
				out = append(out, item.(*unstructured.Unstructured))
				return nil
			})
			if err != nil {
				return nil, fmt.Errorf("%w in\n%s", err, doc)
			}
		default:
			out = append(out, o)
		}
	}
}
