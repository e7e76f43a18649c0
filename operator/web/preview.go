package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/insight"
	"github.com/firekeeper-dev/firekeeper/operator/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/preview"
)

// Limits of manifests: bytes, and kinds of objects in a namespace, each of which is a question
// about the permissions of the caller.
const (
	longestBody = 1 << 20
	mostKinds   = 40
)

// preview answers what would be scraped if the manifests of the body were applied. Whoever
// asks needs the permission to get what the manifests are about.
func (h *Handler) preview(q *request) (any, error) {
	body, err := io.ReadAll(http.MaxBytesReader(q.writer, q.Body, longestBody))
	if err != nil {
		return nil, unreadBody(err)
	}
	asked, err := objectsOf(body)
	if err != nil {
		return nil, err
	}
	for _, o := range asked {
		yes, err := q.rights.May(q.Context(), "get", resource(o.row), o.namespace)
		if err != nil {
			return nil, err
		}
		if !yes {
			err := apierrors.NewForbidden(resource(o.row), "", fmt.Errorf("the caller has no permission to get %s in namespace %q", o.row.Resource, o.namespace))
			h.metrics.refused(err)
			return nil, err
		}
	}
	return answered(h, func(a insight.Answers) (*preview.Report, error) { return a.Preview(q.Context(), q.rights, body) })
}

func unreadBody(err error) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return refusal(http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, "the body is larger than 1 MiB")
	}
	return apierrors.NewBadRequest("the body did not arrive whole")
}

// kindIn is a kind of objects in a namespace.
type kindIn struct {
	row       *catalog.Row
	namespace string
}

// document is what matters here of an object, or of a list of objects.
type document struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

// objectsOf returns the kinds and namespaces of our objects in manifests.
//
// Errors: 400.
func objectsOf(manifests []byte) (out []kindIn, err error) {
	if len(bytes.TrimSpace(manifests)) == 0 {
		return nil, apierrors.NewBadRequest("the body is empty: send manifests in YAML or JSON")
	}
	if err := new(manifest.Aliases).Check(manifests); err != nil {
		if at, is := errors.AsType[*manifest.AliasError](err); is {
			return nil, apierrors.NewBadRequest("the body: " + at.Error())
		}
		return nil, apierrors.NewBadRequest("the body is not Kubernetes objects in YAML or JSON") // the error may have a value
	}
	seen := map[kindIn]bool{}
	in := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096)
	for n := 1; ; n++ {
		var raw json.RawMessage
		err := in.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err == nil {
			err = eachObject(raw, metav1.TypeMeta{}, 0, func(o kindIn) {
				if !seen[o] {
					seen[o], out = true, append(out, o)
				}
			})
		}
		if err != nil { // its message may have a value
			return nil, apierrors.NewBadRequest(fmt.Sprintf("document %d of the body is not a Kubernetes object in YAML or JSON", n))
		}
		if len(out) > mostKinds {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("the manifests are of more than %d kinds and namespaces: send fewer at a time", mostKinds))
		}
	}
}

// eachObject calls each for every one of our objects in a document. usual is the type of an
// object that has none, as in lists of one kind.
func eachObject(raw json.RawMessage, usual metav1.TypeMeta, depth int, each func(kindIn)) error {
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	if d.Kind == "" {
		d.TypeMeta = usual
	}
	for _, item := range d.Items {
		if depth > 2 {
			return errors.New("lists of lists of lists")
		}
		of := metav1.TypeMeta{APIVersion: d.APIVersion, Kind: strings.TrimSuffix(d.Kind, "List")}
		if err := eachObject(item, of, depth+1, each); err != nil {
			return err
		}
	}
	row := rowOf(schema.FromAPIVersionAndKind(d.APIVersion, d.Kind))
	if row == nil {
		return nil
	}
	o := kindIn{row, d.Metadata.Namespace}
	if o.namespace == "" {
		o.namespace = metav1.NamespaceDefault
	}
	each(o)
	return nil
}

// rowOf is the kind of an object; nil for others than ours.
func rowOf(of schema.GroupVersionKind) *catalog.Row {
	for _, row := range catalog.All {
		if row.Group == of.Group && strings.EqualFold(row.Kind, of.Kind) {
			return row
		}
	}
	return nil
}
