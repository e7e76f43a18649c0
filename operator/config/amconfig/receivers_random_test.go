package amconfig

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// gatedVersions are the releases that change the keys of receivers.
var gatedVersions = []string{
	newestVersion, "0.32.0", "0.31.0", "0.30.0", "0.29.0", "0.28.0", "0.27.0", "0.26.0", "0.25.0", "0.24.0", "0.23.0", "0.22.2",
}

// FuzzReceiver generates receivers with random fields, most of which have a value that is valid
// on its own. Each receiver is either rejected without showing a secret, or results in a
// document that Alertmanager loads. The result is deterministic, and the object is not modified.
func FuzzReceiver(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, uint8(seed), uint8(seed/3))
	}
	f.Fuzz(func(t *testing.T, seed uint64, version, density uint8) {
		g := newReceiverGenerator(seed, density)
		in := g.receiver()
		before := asJSON(t, in)
		text, out := g.write(t, gatedVersions[int(version)%len(gatedVersions)], in)
		if again, _ := g.write(t, gatedVersions[int(version)%len(gatedVersions)], in); !bytes.Equal(text, again) {
			t.Errorf("two runs differ\n%s\n%s", text, again)
		}
		if after := asJSON(t, in); before != after {
			t.Errorf("the object was changed\n%s\n%s", before, after)
		}
		if text == nil {
			return
		}
		if err := load(withRoute(text, []Receiver{out})); err != nil {
			t.Errorf("%v\n%s\n%s", err, before, text)
		}
	})
}

// TestRandomReceiversAreAccepted makes sure that the fuzz test does not only generate rejected receivers.
func TestRandomReceiversAreAccepted(t *testing.T) {
	accepted := map[string]int{}
	for seed := range uint64(3000) {
		g := newReceiverGenerator(seed, uint8(seed))
		if text, _ := g.write(t, newestVersion, g.receiver()); text != nil {
			for line := range strings.Lines(string(text)) {
				if key, ok := strings.CutSuffix(strings.TrimSpace(line), "_configs:"); ok {
					accepted[key]++
				}
			}
		}
	}
	for i := range reflect.TypeFor[Receiver]().NumField() {
		key, ok := strings.CutSuffix(strings.Split(reflect.TypeFor[Receiver]().Field(i).Tag.Get("yaml"), ",")[0], "_configs")
		if ok && accepted[key] < 20 {
			t.Errorf("%s: %d accepted", key, accepted[key])
		}
	}
}

// receiverGenerator generates receivers and the Secret that they refer to.
type receiverGenerator struct {
	*rand.Rand
	density float64
	input   *goldenInput
	base    *Global // used by every second one
}

func newReceiverGenerator(seed uint64, density uint8) *receiverGenerator {
	w := &goldenInput{}
	w.objects.AddSecret(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"},
		Data: map[string][]byte{
			"text": []byte(secretText), "lines": []byte("  " + secretText + "\n\tmore: x\n"), "bytes": []byte(secretText + "\xff"),
			"url": []byte("https://a.example/" + secretText + "\n"), "slack": []byte(chatPostMessage), "empty": nil,
			"cert": golden.Certificates()["@CERT@"], "key": golden.Certificates()["@KEY@"],
		},
	})
	var base *Global
	if seed%2 == 0 {
		base = &Global{
			GlobalSMTP: GlobalSMTP{From: "me@example.org", Smarthost: "mail.example:25"}, SlackAPIURL: "https://slack.example", OpsGenieAPIKey: "key",
			WeChatAPISecret: "secret", WeChatAPICorpID: "id", VictorOpsAPIKey: "key",
		}
	}
	return &receiverGenerator{base: base, Rand: rand.New(rand.NewPCG(seed, 0)), density: float64(density%101) / 100, input: w}
}

// write returns nil for a rejected receiver.
func (g *receiverGenerator) write(t *testing.T, version string, in *v1alpha1.Receiver) ([]byte, Receiver) {
	t.Helper()
	err := checkReceiver(in)
	c := g.input.compiler(version)
	c.globals = g.base.provides()
	out := Receiver{}
	if err == nil {
		out, err = c.receiver(in)
	}
	if err != nil {
		if strings.Contains(err.Error(), secretText) {
			t.Errorf("the error shows a secret: %v", err)
		}
		return nil, out
	}
	text, _, err := gate.Marshal(section{Global: g.base, Receivers: []Receiver{out}}, c.target)
	if err != nil {
		t.Error(err)
	}
	return text, out
}

// receiver returns a receiver with one entry of one kind, because each invalid entry
// rejects the entire object.
func (g *receiverGenerator) receiver() *v1alpha1.Receiver {
	out := &v1alpha1.Receiver{Name: "test"}
	v := reflect.ValueOf(out).Elem()
	for {
		field := v.Field(g.IntN(v.NumField()))
		if field.Kind() != reflect.Slice {
			continue
		}
		field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		g.fill(field.Index(0), "")
		for i := range out.WebexConfigs { // random values rarely meet the requirements of this kind
			out.WebexConfigs[i].HTTPConfig = &v1alpha1.HTTPConfig{}
			out.WebexConfigs[i].HTTPConfig.BearerTokenSecret = new(g.selector(""))
		}
		return out
	}
}

// fill sets the fields below v; name is the name of the field.
func (g *receiverGenerator) fill(v reflect.Value, name string) {
	if v.Type() == reflect.TypeFor[corev1.SecretKeySelector]() {
		v.Set(reflect.ValueOf(g.selector(name)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			field, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if strings.Contains(options, "omitempty") && g.Float64() > g.density {
				continue
			}
			if field == "" { // inlined
				field = name
			}
			g.fill(v.Field(i), field)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		g.fill(v.Elem(), name)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), g.IntN(3), 3))
		for i := range v.Len() {
			g.fill(v.Index(i), name)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range g.IntN(3) {
			item := reflect.New(v.Type().Elem()).Elem()
			g.fill(item, name)
			v.SetMapIndex(reflect.ValueOf(g.pick(words)), item)
		}
	case reflect.String:
		v.SetString(g.text(name))
	case reflect.Bool:
		v.SetBool(g.IntN(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt([]int64{1, 7, -1001234567890, 0}[g.IntN(4)])
	}
}

var (
	words = []string{"a", "a b", "on", "1.5", "{{ .CommonLabels.x | toUpper }}", "y: z", "- a", `"q"`, "é#", "two\nlines\n", "<secret>", "0x1f", "~"}
	urls  = []string{"https://a.example/x", "http://user:pass@b.example", "{{ .CommonLabels.url }}", "https://c/{{ toUpper .x }}", "not a URL"}
	// formed holds values for fields with a special format; the last of each is invalid.
	formed = map[string][]string{
		"timeout": {"10s", "1d", "0", "1y2w", "1h30m", "soon"}, "retry": {"1m", "1d", "soon"}, "expire": {"1h", "1w", "soon"}, "ttl": {"1d", "5m", "soon"},
		"smarthost": {"mail.example:25", "[::1]:465", "mail.example"}, "threadByDate": {"Daily", "None", "daily"},
		"parseMode": {"HTML", "Markdown", "MarkdownV2", "Text"}, "type": {"team", "User", "teams", "button", "{{ .x }}", "Basic"},
		"messageType": {"text", "markdown", "CRITICAL"}, "minVersion": {"TLS10", "TLS12", "TLS13"}, "maxVersion": {"TLS13", "TLS12"},
		"proxyUrl": {"http://proxy.example", "socks5://p", "http://[a"}, "tokenUrl": {"https://token.example", ""},
	}
)

func (g *receiverGenerator) text(name string) string {
	switch pool, ok := formed[name]; {
	case ok:
		return g.pick(pool)
	case strings.HasSuffix(name, "File"):
		return g.pick([]string{"/etc/alertmanager/secrets/s/key", "/vault/secrets/key", "/etc/token", "/a", privateDirs[0] + "/key"})
	case strings.HasSuffix(strings.ToLower(name), "url") || name == "href":
		return g.pick(urls)
	}
	return g.pick(words)
}

// pick prefers the first elements.
func (g *receiverGenerator) pick(from []string) string {
	return from[min(g.IntN(len(from)), g.IntN(len(from)))]
}

func (g *receiverGenerator) selector(name string) corev1.SecretKeySelector {
	key := g.pick([]string{"text", "lines", "bytes", "empty", "none"})
	switch {
	case strings.Contains(strings.ToLower(name), "url"):
		key = g.pick([]string{"url", "slack", "text"})
	case slices.Contains([]string{"ca", "cert", "secret"}, name):
		key = "cert"
	case name == "keySecret":
		key = "key"
	}
	return corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: key}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
