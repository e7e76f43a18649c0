package manifests

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"reflect"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Assumed returns a function that pretends that every Secret and ConfigMap exists. Each key that
// the objects refer to has a value that is valid for the referring field.
func Assumed(objects ...catalog.Object) func(assets.Ref) (assets.Object, bool) {
	values := map[assets.Ref]map[string][]byte{}
	for _, object := range objects {
		assumption{namespace: object.GetNamespace(), values: values}.collect("", reflect.ValueOf(object))
	}
	return func(ref assets.Ref) (assets.Object, bool) {
		return assets.Object{Version: "assumed", Values: values[ref]}, true
	}
}

// assumption collects values for the references of an object.
type assumption struct {
	namespace string
	values    map[assets.Ref]map[string][]byte
}

// collect walks a value. field is the innermost JSON field name, not counting those of
// SecretOrConfigMap.
func (a assumption) collect(field string, v reflect.Value) {
	switch value := v.Interface().(type) {
	case corev1.SecretKeySelector:
		a.add(assets.Secret, value.Name, value.Key, field)
		return
	case corev1.ConfigMapKeySelector:
		a.add(assets.ConfigMap, value.Name, value.Key, field)
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			a.collect(field, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			a.collect(field, v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			a.collect(field, v.MapIndex(key))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || name == "secret" || name == "configMap" {
				name = field
			}
			a.collect(name, v.Field(i))
		}
	}
}

// add sets the value of a key. If several fields refer to it, the first one that needs a specific
// format decides.
func (a assumption) add(kind assets.Kind, name, key, field string) {
	ref := assets.Ref{Kind: kind, Namespace: a.namespace, Name: name}
	if a.values[ref] == nil {
		a.values[ref] = map[string][]byte{}
	}
	form, formed := formed[field]
	if _, there := a.values[ref][key]; there && !formed {
		return
	}
	if !formed {
		form = plain
	}
	a.values[ref][key] = form()
}

// formed maps field names to generators of values in the format that the field needs.
var formed = map[string]func() []byte{
	"ca": keyPair, "cert": keyPair, "keySecret": keyPair,
	"additionalScrapeConfigs": emptyList, "additionalAlertRelabelConfigs": emptyList, "additionalAlertManagerConfigs": emptyList,
	"alertRelabelConfigs": emptyList, "alertmanagersConfig": emptyMap,
}

// plain returns the value for all other fields, which is also a valid URL.
func plain() []byte { return []byte("https://assumed.invalid") }

func emptyList() []byte { return []byte("[]") }

func emptyMap() []byte { return []byte("{}") }

// keyPair returns a certificate and its key in one PEM text, which is valid as either.
var keyPair = sync.OnceValue(func() []byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		panic(err)
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})...)
})
