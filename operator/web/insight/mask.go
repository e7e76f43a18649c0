package insight

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/amconfig"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Placeholders that are compiled instead of values of Secrets, in the form that the field requires.
const (
	hiddenWord = "hidden"
	hiddenURL  = "https://hidden.invalid/"
	hiddenHost = "hidden.invalid:1"
)

// masker redacts credentials in a configuration in three independent ways: values of Secrets are
// replaced before compiling, fields for credentials are redacted, and so is every scalar that
// contains a value of a Secret.
type masker struct {
	// whole are the Secrets that are configuration files. They are compiled unchanged.
	whole map[assets.Ref]string // to key
	// base is true if the configuration of an Alertmanager is based on such a file. Only values of
	// allowlisted keys are shown of it.
	base bool
	// begins is the AlertmanagerConfig on which it is based instead, if any.
	begins catalog.Ref
	known  *knownValues
}

func newMasker(w v1.Workload) *masker {
	m := &masker{whole: map[assets.Ref]string{}, begins: baseOf(w), known: newKnownValues()}
	if am, is := w.(*v1.Alertmanager); is && am.Spec.AlertmanagerConfiguration == nil {
		m.base = true
		m.whole[assets.Ref{Kind: assets.Secret, Namespace: am.Namespace, Name: amconfig.SecretName(am)}] = amconfig.SecretKey
	}
	return m
}

// reading returns a reader with placeholders for values of Secrets. Certificates are kept because
// they are validated and written to files.
func (m *masker) reading(r assets.Reader) assets.Reader { return hidingReader{r, m} }

type hidingReader struct {
	assets.Reader
	m *masker
}

// Object implements [assets.Reader].
func (r hidingReader) Object(ref assets.Ref) (assets.Object, error) {
	o, err := r.Reader.Object(ref)
	if err != nil || ref.Kind != assets.Secret {
		return o, err
	}
	values := make(map[string][]byte, len(o.Values))
	for key, value := range o.Values {
		if r.m.whole[ref] == key {
			values[key] = value
			continue
		}
		r.m.known.add(string(value))
		values[key] = []byte(wordFor(string(value)))
	}
	o.Values = values
	return o, nil
}

var hostPort = regexp.MustCompile(`^[^\s/]+:\d+$`)

// wordFor returns the placeholder for a value.
func wordFor(value string) string {
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		return ""
	case strings.HasPrefix(value, "-----BEGIN "):
		return value
	case strings.Contains(value, "://"):
		return hiddenURL
	case hostPort.MatchString(value):
		return hiddenHost
	}
	return hiddenWord
}

// Keys whose scalars are always redacted, and keys that are not redacted although their names look
// like credentials.
var (
	hiddenBelow = []string{"headers", "http_headers", "proxy_connect_header", "custom_headers"}
	users       = []string{"username", "client_id"}
	files       = regexp.MustCompile(`_(file|files|url|timeout|length|limit)$`)

	pathOfURL = regexp.MustCompile(`(://[^/\s?#]+/)[^\s?#]+`)
	// longPart matches a long segment of a path, which may be an API key.
	longPart = regexp.MustCompile(`(/)[^/]{20,}`)
)

// isCredential reports whether the scalars of a key are redacted.
func isCredential(key string) bool {
	key = strings.TrimPrefix(key, "__param_")
	return slices.Contains(users, key) || targets.IsSecretKey(key) && !files.MatchString(key)
}

// walk redacts credentials in a tree.
type walk struct {
	m       *masker
	paths   bool // paths of URLs are credentials
	keys    bool // paths of URLs may contain API keys
	fields  bool // names are those of a manifest: basicAuth for basic_auth
	changed bool
}

// node redacts the tree below a key.
func (w *walk) node(n *yaml.Node, key string, all bool) {
	if w.fields {
		if isReference(n) {
			return
		}
		key = underscored(key)
	}
	all = all || slices.Contains(hiddenBelow, key)
	switch n.Kind {
	case yaml.ScalarNode:
		w.scalar(n, key, all)
	case yaml.MappingNode:
		w.relabel(n)
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			w.node(n.Content[i+1], name, all || key == "params" && targets.IsCredential(name))
		}
	default:
		for _, child := range n.Content {
			w.node(child, key, all)
		}
	}
}

// scalar redacts a value, or the credentials in it.
func (w *walk) scalar(n *yaml.Node, key string, all bool) {
	if n.ShortTag() == "!!null" || n.ShortTag() == "!!bool" && !all {
		return
	}
	text := n.Value
	switch {
	case all, isCredential(key), text == hiddenWord, strings.Contains(text, hiddenURL), strings.Contains(text, hiddenHost), w.m.known.in(text):
		text = preview.Hidden
	default:
		text = preview.MaskedText(text)
		if w.paths {
			text = pathOfURL.ReplaceAllString(text, "${1}"+preview.Hidden)
		} else if w.keys {
			text = pathOfURL.ReplaceAllStringFunc(text, func(path string) string {
				host := strings.Index(path[len("://"):], "/") + len("://")
				return path[:host] + longPart.ReplaceAllString(path[host:], "${1}"+preview.Hidden)
			})
		}
	}
	if text != n.Value {
		hide(n, text)
		w.changed = true
	}
}

func hide(n *yaml.Node, text string) {
	n.Tag, n.Value, n.Style = "!!str", text, 0
}

// relabel redacts values that a relabel rule writes into a URL parameter or compares with one.
func (w *walk) relabel(n *yaml.Node) {
	if target := w.child(n, "target_label", "targetLabel"); target != nil && preview.IsSecret(target.Value) {
		w.hideChild(n, "replacement")
	}
	if source := w.child(n, "source_labels", "sourceLabels"); source != nil && slices.ContainsFunc(source.Content, func(s *yaml.Node) bool { return preview.IsSecret(s.Value) }) {
		w.hideChild(n, "regex")
	}
}

// child returns the value of a key of a configuration, or of a field of a manifest.
func (w *walk) child(n *yaml.Node, key, field string) *yaml.Node {
	if w.fields {
		key = field
	}
	return child(n, key)
}

// isReference reports whether a node names a key of a Secret or ConfigMap.
func isReference(n *yaml.Node) bool {
	if child(n, "key") == nil || child(n, "name") == nil {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !slices.Contains([]string{"key", "name", "optional"}, n.Content[i].Value) || n.Content[i+1].Kind != yaml.ScalarNode {
			return false
		}
	}
	return true
}

// underscored returns a name in the form of configurations: "basic_auth" for "basicAuth".
func underscored(name string) string {
	var out strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			out.WriteByte('_')
			r += 'a' - 'A'
		}
		out.WriteRune(r)
	}
	return out.String()
}

func (w *walk) hideChild(n *yaml.Node, key string) {
	if value := child(n, key); value != nil && value.Kind == yaml.ScalarNode {
		hide(value, preview.Hidden)
		w.changed = true
	}
}

// child returns the value of a key; nil if there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
