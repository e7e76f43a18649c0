package manifests

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// promise is a Secret or ConfigMap that will be generated, with its known keys.
type promise struct {
	keys []string
	any  bool // it may have other keys as well
}

// PromisedVersion is the version of Secrets and ConfigMaps with placeholders, see [Objects.Promised].
const PromisedVersion = "promised"

// promises are the promises of all manifests. An empty namespace applies to every namespace.
type promises map[assets.Ref]*promise

// of returns the promise of an object; nil if there is none.
func (p promises) of(ref assets.Ref) *promise {
	if own := p[ref]; own != nil {
		return own
	}
	ref.Namespace = ""
	return p[ref]
}

// add adds a promise, merging it with others for the same object.
func (p promises) add(ref assets.Ref, more promise) {
	if p[ref] == nil {
		p[ref] = &promise{}
	}
	p[ref].keys = append(p[ref].keys, more.keys...)
	p[ref].any = p[ref].any || more.any
}

// newPromises returns the promises of objects that exist in every cluster.
func newPromises() promises {
	return promises{{Kind: assets.ConfigMap, Name: "kube-root-ca.crt"}: {keys: []string{"ca.crt"}}}
}

// Promised treats Secrets and ConfigMaps that other manifests generate in a cluster as existing,
// such as those of kustomize secretGenerators or ExternalSecrets. Their unknown values are replaced
// by placeholders that are valid for the references.
func (o *Objects) Promised() {
	var all []catalog.Object
	for _, row := range catalog.All {
		all = append(all, o.byRow[row]...)
	}
	assumed := Assumed(all...)
	o.References.Otherwise = func(ref assets.Ref) (assets.Object, bool) {
		p := o.promises.of(ref)
		if p == nil {
			return assets.Object{}, false
		}
		object, _ := assumed(ref)
		values := maps.Clone(object.Values)
		maps.DeleteFunc(values, func(key string, _ []byte) bool { return !p.any && !slices.Contains(p.keys, key) })
		if values == nil {
			values = map[string][]byte{}
		}
		for _, key := range p.keys {
			if _, there := values[key]; !there {
				values[key] = plain()
			}
		}
		return assets.Object{Version: PromisedVersion, Values: values}, true
	}
}

// maker is the part of a manifest that describes the Secret that it generates.
type maker struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		// ExternalSecret
		Target struct {
			Name     string `json:"name"`
			Template struct {
				Data         map[string]string `json:"data"`
				TemplateFrom []any             `json:"templateFrom"`
				MergePolicy  string            `json:"mergePolicy"`
			} `json:"template"`
		} `json:"target"`
		Data []struct {
			SecretKey string `json:"secretKey"`
		} `json:"data"`
		DataFrom []any `json:"dataFrom"`
		// SealedSecret
		EncryptedData map[string]string `json:"encryptedData"`
		Template      struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
			Data     map[string]string `json:"data"`
			Spec     struct {          // of a Job
				Containers []container `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
		// Certificate
		SecretName string `json:"secretName"`
	} `json:"spec"`
}

// container is the part of a container that describes its command.
type container struct {
	Image         string
	Command, Args []string
}

// flag returns the value of a command line flag of a container, or otherwise if it is not set.
func (c container) flag(name, otherwise string) string {
	words := slices.Concat(c.Command, c.Args)
	for i, word := range words {
		if v, is := strings.CutPrefix(word, "--"+name+"="); is {
			return v
		}
		if word == "--"+name && i+1 < len(words) {
			return words[i+1]
		}
	}
	return otherwise
}

// certificates returns the Secret that a Job of kube-webhook-certgen creates, as charts use it for
// webhooks, and sets the namespace of the maker to that of the Secret.
func certificates(m *maker) (name string, of promise) {
	for _, c := range m.Spec.Template.Spec.Containers {
		if !strings.Contains(c.Image, "webhook-certgen") || !slices.Contains(slices.Concat(c.Command, c.Args), "create") {
			continue
		}
		if namespace := c.flag("namespace", ""); !strings.Contains(namespace, "$") { // a variable is the namespace of the Job
			m.Metadata.Namespace = cmp.Or(namespace, m.Metadata.Namespace)
		}
		return c.flag("secret-name", ""), promise{keys: []string{c.flag("ca-name", "ca"), c.flag("cert-name", "cert"), c.flag("key-name", "key")}}
	}
	return "", promise{}
}

// makers are the kinds that generate a Secret, with functions that return its name and keys.
var makers = map[schema.GroupKind]func(m *maker) (name string, of promise){
	{Group: "external-secrets.io", Kind: "ExternalSecret"}: func(m *maker) (string, promise) {
		t := m.Spec.Target
		out := promise{any: len(m.Spec.DataFrom) > 0 || len(t.Template.TemplateFrom) > 0}
		for _, d := range m.Spec.Data {
			out.keys = append(out.keys, d.SecretKey)
		}
		if len(t.Template.Data) > 0 && t.Template.MergePolicy != "Merge" {
			out.keys = nil // they are only inputs of the template
		}
		out.keys = append(out.keys, slices.Sorted(maps.Keys(t.Template.Data))...)
		return t.Name, out
	},
	{Group: "bitnami.com", Kind: "SealedSecret"}: func(m *maker) (string, promise) {
		keys := append(slices.Sorted(maps.Keys(m.Spec.EncryptedData)), slices.Sorted(maps.Keys(m.Spec.Template.Data))...)
		return m.Spec.Template.Metadata.Name, promise{keys: keys}
	},
	{Group: "cert-manager.io", Kind: "Certificate"}: func(m *maker) (string, promise) {
		return m.Spec.SecretName, promise{keys: []string{"tls.crt", "tls.key", "ca.crt"}, any: true}
	},
	{Group: "batch", Kind: "Job"}: certificates,
	{Kind: "Service"}: func(m *maker) (string, promise) { // on OpenShift
		return m.Metadata.Annotations["service.beta.openshift.io/serving-cert-secret-name"], promise{keys: []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey}}
	},
}

// namesItself are the makers whose Secret has their own name by default.
var namesItself = []string{"ExternalSecret", "SealedSecret"}

// promised records the Secret that an object generates, if any. Unreadable objects are ignored.
func (r *reader) promised(kind schema.GroupKind, raw []byte) {
	make, is := makers[kind]
	var m maker
	if !is || json.Unmarshal(raw, &m) != nil {
		return
	}
	name, of := make(&m)
	if name == "" && slices.Contains(namesItself, kind.Kind) {
		name = m.Metadata.Name
	}
	if name != "" {
		r.objects.promises.add(assets.Ref{Kind: assets.Secret, Namespace: namespaceOr(m.Metadata.Namespace), Name: name}, of)
	}
}

// generator is an item of secretGenerator or configMapGenerator.
type generator struct {
	Name            string
	Literals, Files []string
	Envs            []string
	Env             string
}

// promise returns the keys of the generator. A file of variables may have any keys.
func (g generator) promise() promise {
	out := promise{any: len(g.Envs) > 0 || g.Env != ""}
	for _, l := range g.Literals {
		key, _, _ := strings.Cut(l, "=")
		out.keys = append(out.keys, key)
	}
	for _, f := range g.Files {
		key, _, renamed := strings.Cut(f, "=")
		if !renamed {
			key = path.Base(f)
		}
		out.keys = append(out.keys, key)
	}
	return out
}

// generated records what a kustomization generates. Manifests refer to it by the name without the
// hash, in any namespace.
func (r *reader) generated(k kustomization) {
	var of struct{ SecretGenerator, ConfigMapGenerator []generator }
	if !k.decode(&of) {
		return
	}
	for _, g := range of.SecretGenerator {
		r.objects.promises.add(assets.Ref{Kind: assets.Secret, Name: g.Name}, g.promise())
	}
	for _, g := range of.ConfigMapGenerator {
		r.objects.promises.add(assets.Ref{Kind: assets.ConfigMap, Name: g.Name}, g.promise())
	}
}
