package lister

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/firekeeper-dev/firekeeper/operator/kube/message"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// page is an encoded page of a list.
type page []byte

// buffers are reused for pages, which are large and do not outlive decoding.
var buffers sync.Pool

// readPage reads a page.
//
// Errors: those of the reader.
func readPage(from io.Reader) (page, error) {
	var b bytes.Buffer
	if old, ok := buffers.Get().(*page); ok {
		b = *bytes.NewBuffer((*old)[:0])
	}
	if _, err := b.ReadFrom(from); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// release returns the buffer of a page to the pool; the page must not be used afterwards.
func (p page) release() { buffers.Put(&p) }

// magic is the prefix of protobuf: a runtime.Unknown with the list in it follows.
var magic = []byte("k8s\x00")

// errPage is returned when the API server, or a proxy in front of it, sends something else.
var errPage = errors.New("the answer is no list")

// list returns the kind of a page and its message, which is a subslice of the page.
func (p page) list() (kind metav1.TypeMeta, text []byte, err error) {
	envelope := []byte(p[len(magic):])
	head, err := field(envelope, 1)
	if err != nil {
		return kind, nil, err
	}
	var k runtime.TypeMeta
	if k.Unmarshal(head) != nil {
		return kind, nil, errPage
	}
	text, err = field(envelope, 2)
	return metav1.TypeMeta{Kind: k.Kind, APIVersion: k.APIVersion}, text, err
}

// field returns the first field with this number, nil if there is none.
//
// Errors: the message is malformed before it.
func field(text []byte, wanted protowire.Number) (out []byte, err error) {
	found := false
	complete := message.Walk(text, func(p message.Part) bool {
		if found = p.Number == wanted && p.Kind == protowire.BytesType; found {
			out = p.Bytes
		}
		return !found
	})
	if !complete && !found {
		return nil, errPage
	}
	return out, nil
}

// next returns the continue token; "" after the last page.
func (p page) next() (string, error) {
	var list struct {
		Metadata metav1.ListMeta `json:"metadata"`
	}
	if !bytes.HasPrefix(p, magic) {
		if err := json.Unmarshal(p, &list); err != nil {
			return "", errPage
		}
		return list.Metadata.Continue, nil
	}
	_, text, err := p.list()
	if err != nil {
		return "", err
	}
	metadata, err := field(text, 1)
	if err != nil || list.Metadata.Unmarshal(metadata) != nil {
		return "", errPage
	}
	return list.Metadata.Continue, nil
}

// decode adds the trimmed objects of a page.
//
// packs: pods are packed.
func (p page) decode(role string, into *discovery.Objects, packs bool) error {
	if packs && bytes.HasPrefix(p, magic) {
		kind, list, err := p.list()
		if err != nil {
			return err
		}
		if kind.Kind == discovery.PodList {
			if into.TakePods(list) != nil {
				return errPage
			}
			return nil
		}
	}
	add := into.Take
	list, err := p.short(role)
	if list == nil && err == nil { // JSON
		add = into.Add
		list, _, err = scheme.Codecs.UniversalDeserializer().Decode(p, nil, nil)
	}
	if err != nil {
		return err
	}
	if _, status := list.(*metav1.Status); status {
		return errPage
	}
	return meta.EachListItem(list, func(o runtime.Object) error {
		object, ok := o.(discovery.Object)
		if !ok || !add(object) {
			return fmt.Errorf("the list of role %s has a %T", role, o)
		}
		return nil
	})
}

// short decodes the list of a page without irrelevant fields; nil for JSON.
func (p page) short(role string) (runtime.Object, error) {
	if !bytes.HasPrefix(p, magic) {
		return nil, nil
	}
	kind, text, err := p.list()
	if err != nil {
		return nil, err
	}
	if text, err = discovery.Shorten(role, text); err != nil {
		return nil, errPage
	}
	list, err := scheme.Scheme.New(kind.GroupVersionKind())
	if err != nil {
		return nil, errPage
	}
	into, ok := list.(interface{ Unmarshal([]byte) error })
	if !ok {
		return nil, errPage
	}
	if err := into.Unmarshal(text); err != nil {
		return nil, errPage
	}
	return list, nil
}
