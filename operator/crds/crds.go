// Package crds carries the CustomResourceDefinitions of the API group, so that
// the operator can print the ones that fit its version without a cluster and
// without a checkout.
//
// There are two sets. Standard has no descriptions and AlertmanagerConfig in its
// stored version only; every definition fits the annotation that a plain
// `kubectl apply` writes. Full has descriptions and serves AlertmanagerConfig
// v1beta1 too, which needs the conversion webhook.
//
// The embedded files are gzipped copies of deploy/crds and deploy/crds-full,
// written by the program in pack; a test holds them equal.
package crds

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// VersionAnnotation names the operator version a definition was printed by.
const VersionAnnotation = "operator.prometheus.io/version"

//go:embed standard.yaml.gz
var standard []byte

//go:embed full.yaml.gz
var full []byte

// Standard returns the definitions without descriptions, ordered by resource
// name, each annotated with the given operator version.
func Standard(version string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return load(standard, version)
}

// Full returns the definitions with descriptions and AlertmanagerConfig v1beta1,
// ordered by resource name, each annotated with the given operator version.
func Full(version string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return load(full, version)
}

// Write prints definitions as one YAML stream. A definition costs some
// milliseconds; the full set takes a fraction of a second.
func Write(w io.Writer, definitions []*apiextensionsv1.CustomResourceDefinition) error {
	for i, crd := range definitions {
		out, err := marshal(crd)
		if err != nil {
			return fmt.Errorf("encode %s: %w", crd.Name, err)
		}
		if i > 0 {
			out = append([]byte("---\n"), out...)
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
	}
	return nil
}

// load unpacks a set of definitions.
func load(packed []byte, version string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack definitions: %w", err)
	}
	raw, err := io.ReadAll(zr)
	if err != nil {
		return nil, fmt.Errorf("unpack definitions: %w", err)
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for doc := range bytes.SplitSeq(raw, []byte("\n---\n")) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(doc, crd); err != nil {
			return nil, fmt.Errorf("decode definition: %w", err)
		}
		if crd.Annotations == nil {
			crd.Annotations = map[string]string{}
		}
		crd.Annotations[VersionAnnotation] = version
		out = append(out, crd)
	}
	return out, nil
}

// marshal encodes one definition without the status, which is the API server's
// to write.
func marshal(crd *apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	type manifest struct {
		APIVersion string                                       `json:"apiVersion"`
		Kind       string                                       `json:"kind"`
		Metadata   map[string]any                               `json:"metadata"`
		Spec       apiextensionsv1.CustomResourceDefinitionSpec `json:"spec"`
	}
	return yaml.Marshal(manifest{
		APIVersion: crd.APIVersion,
		Kind:       crd.Kind,
		Metadata:   map[string]any{"name": crd.Name, "annotations": crd.Annotations},
		Spec:       crd.Spec,
	})
}
