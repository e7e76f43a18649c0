// Package crds embeds the CustomResourceDefinitions of the API group, so that the operator can print those of its
// version without a cluster or a checkout.
//
// There are two sets. Standard has no descriptions and AlertmanagerConfig in its stored version only; every CRD
// fits into the annotation of a plain `kubectl apply`. Full has descriptions and also serves AlertmanagerConfig
// v1beta1, which needs the conversion webhook.
//
// The embedded files are gzipped copies of deploy/crds and deploy/crds-full, written by the program in pack; a
// test ensures that they are equal.
package crds

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/jsonspan"
)

const (
	// VersionAnnotation is the operator version that printed a CRD.
	VersionAnnotation = "operator.prometheus.io/version"
	// DistributionAnnotation is the distribution and its version, see [Distribution]. Other operators of the same
	// API have different version numbers and do not set it. If they have overwritten our CRD, its version differs
	// from VersionAnnotation.
	DistributionAnnotation = "operator.prometheus.io/distribution"
	// APILevel is the release of the published API, major and minor, that the CRDs implement.
	APILevel = "0.93"
)

//go:embed standard.json.gz
var standard []byte

//go:embed full.json.gz
var full []byte

// Distribution returns the value of DistributionAnnotation for a version of this operator.
func Distribution(version string) string { return "firekeeper/" + version }

// Standard returns the CRDs without descriptions, ordered by resource name, each annotated with the operator
// version.
func Standard(version string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return load(standard, version)
}

// Full returns the CRDs with descriptions and AlertmanagerConfig v1beta1, ordered by resource name, each
// annotated with the operator version.
func Full(version string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return load(full, version)
}

// Write writes CRDs as one YAML stream. A CRD takes some milliseconds, the full set a fraction of a second.
func Write(w io.Writer, definitions []*apiextensionsv1.CustomResourceDefinition) error {
	for i, crd := range definitions {
		out, err := yaml.Marshal(NewManifest(crd))
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

// OfKind returns the CRD of a kind from the full set or the other one, without annotations and without decoding the
// others, which take tens of milliseconds and 20 MB; nil if there is none.
func OfKind(kind string, inFull bool) (*apiextensionsv1.CustomResourceDefinition, error) {
	packed := standard
	if inFull {
		packed = full
	}
	raw, err := unpack(packed)
	if err != nil {
		return nil, err
	}
	name, err := json.Marshal(kind)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(raw) {
		if bytes.Equal(jsonspan.Get(line, "spec", "names", "kind"), name) {
			return decode(line)
		}
	}
	return nil, nil
}

// load returns a set of CRDs.
func load(packed []byte, version string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	raw, err := unpack(packed)
	if err != nil {
		return nil, err
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for line := range bytes.Lines(raw) {
		crd, err := decode(line)
		if err != nil {
			return nil, err
		}
		if crd.Annotations == nil {
			crd.Annotations = map[string]string{}
		}
		crd.Annotations[VersionAnnotation] = version
		crd.Annotations[DistributionAnnotation] = Distribution(version)
		out = append(out, crd)
	}
	return out, nil
}

// unpack decompresses a set of CRDs, one in each line.
func unpack(packed []byte) ([]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack CRDs: %w", err)
	}
	raw := bytes.NewBuffer(make([]byte, 0, len(packed)*ratio))
	if _, err := raw.ReadFrom(zr); err != nil {
		return nil, fmt.Errorf("unpack CRDs: %w", err)
	}
	return raw.Bytes(), nil
}

// ratio is about the compression of a set.
const ratio = 18

func decode(line []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(line, crd); err != nil {
		return nil, fmt.Errorf("decode CRD: %w", err)
	}
	return crd, nil
}

// Manifest is a CRD as it is applied and printed: without the status and without the empty fields that the Go
// type would encode.
type Manifest struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        Metadata                                     `json:"metadata"`
	Spec            apiextensionsv1.CustomResourceDefinitionSpec `json:"spec"`
}

// Metadata has the metadata fields of a CRD manifest.
type Metadata struct {
	Annotations map[string]string `json:"annotations,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Name        string            `json:"name"`
}

// NewManifest returns the manifest of a CRD. It shares memory with crd.
func NewManifest(crd *apiextensionsv1.CustomResourceDefinition) Manifest {
	return Manifest{
		TypeMeta: crd.TypeMeta,
		Metadata: Metadata{Annotations: crd.Annotations, Labels: crd.Labels, Name: crd.Name},
		Spec:     crd.Spec,
	}
}
