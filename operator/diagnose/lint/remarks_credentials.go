package lint

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// credentialFields are the fields that refer to a secret which is sent as it is. URLs are trimmed.
var credentialFields = []string{
	"accessKey", "apiKey", "apiSecret", "authPassword", "authSecret", "bearerTokenSecret", "botToken", "clientSecret", "credentials",
	"password", "routingKey", "secretKey", "serviceKey", "token", "userKey", "username",
}

// credentialRemarks reports references of an object to secrets that end in a line break, which
// becomes part of the credential.
func (l *linter) credentialRemarks(say, note says, object catalog.Object) {
	if _, is := object.(*v1.PrometheusRule); is || l.objects.Len() == 0 {
		return
	}
	text, err := json.Marshal(object)
	if err != nil || !bytes.Contains(text, []byte(`"key":`)) { // it has no reference
		return
	}
	var fields struct{ Spec any }
	if err := json.Unmarshal(text, &fields); err != nil {
		return
	}
	l.credentials(say, note, object.GetNamespace(), "spec", fields.Spec)
}

// credentials reports the references below a value.
func (l *linter) credentials(say, note says, namespace, path string, value any) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			l.credentials(say, note, namespace, fmt.Sprintf("%s[%d]", path, i), item)
		}
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(value)) {
			at := path + "." + field
			if slices.Contains(credentialFields, field) {
				l.credential(say, note, namespace, at, value[field])
			}
			l.credentials(say, note, namespace, at, value[field])
		}
	}
}

// schemes are the types of authorization that users write into the credentials themselves.
var schemes = []string{"Bearer", "Basic", "Token"}

// schemeIn returns the type of authorization with which credentials begin; empty if there is none.
func schemeIn(credentials []byte) string {
	word, rest, is := bytes.Cut(bytes.TrimLeft(credentials, " "), []byte(" "))
	i := slices.IndexFunc(schemes, func(scheme string) bool { return strings.EqualFold(scheme, string(word)) })
	if !is || i < 0 || len(bytes.TrimSpace(rest)) == 0 {
		return ""
	}
	return schemes[i]
}

// encodedTwice reports whether a value is base64 of a text, as if Kubernetes decoded it once more. Random values in base64 are
// of other bytes, and tokens have punctuation in them.
func encodedTwice(value []byte) bool {
	if value = bytes.TrimSpace(value); len(value) > 512 {
		return false
	}
	text, err := base64.StdEncoding.DecodeString(string(value))
	return err == nil && len(text) >= 5 && !bytes.ContainsFunc(bytes.TrimSpace(text), func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`{}":`, r)
	})
}

// credential reports a reference to a secret that ends in a line break, or begins with the type of authorization.
func (l *linter) credential(say, note says, namespace, path string, value any) {
	reference, is := value.(map[string]any)
	name, key := "", ""
	if is {
		name, _ = reference["name"].(string)
		key, _ = reference["key"].(string)
	}
	if name == "" || key == "" {
		return
	}
	known, err := l.objects.References.Object(assets.Ref{Kind: assets.Secret, Namespace: namespace, Name: name})
	if err != nil {
		return // missing ones are reported elsewhere
	}
	if scheme := schemeIn(known.Values[key]); scheme != "" && (strings.HasSuffix(path, ".credentials") || strings.HasSuffix(path, ".bearerTokenSecret")) {
		say(path+".key", "the value of key %q in Secret %s/%s begins with %s, which is sent before it anyway (authorization.type, Bearer unless it is set), so that it is there twice and the server refuses it; write what follows it alone", key, namespace, name, scheme)
	}
	if encodedTwice(known.Values[key]) && slices.Contains([]string{"username", "password", "authPassword"}, path[strings.LastIndexByte(path, '.')+1:]) {
		note(path+".key", "the value of key %q in Secret %s/%s is itself a base64 string, and is sent like this; if the decoded value is meant, write it as it is below stringData, or encode it once below data", key, namespace, name)
	}
	if !bytes.HasSuffix(known.Values[key], []byte("\n")) {
		return
	}
	say(path+".key", "the value of key %q in Secret %s/%s ends with a line break, which is sent as part of it, and the server refuses it; write the value without one (printf or echo -n, and no block with |)", key, namespace, name)
}
