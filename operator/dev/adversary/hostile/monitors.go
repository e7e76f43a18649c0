package hostile

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"time"
)

// endpoints is the field with the endpoints of a monitor.
func (m *maker) endpoints() string {
	if m.kind.name == "PodMonitor" {
		return "podMetricsEndpoints"
	}
	return "endpoints"
}

// expanding has many small endpoints, each of which becomes a job of two kilobytes.
func (m *maker) expanding() Manifest {
	list := []any{}
	for i := range oneOf(m, 200, 2000, 2000, 20000) {
		endpoint := map[string]any{"port": "w"}
		if m.rng.IntN(2) == 0 {
			endpoint["port"] = fmt.Sprintf("w%d", i)
		}
		list = append(list, endpoint)
	}
	spec := map[string]any{"selector": map[string]any{}, m.endpoints(): list}
	if m.rng.IntN(2) == 0 {
		spec["selector"] = map[string]any{"matchLabels": map[string]any{strings.Repeat("k", 63): strings.Repeat("v", 63)}}
	}
	if m.rng.IntN(2) == 0 { // each of them is repeated in every job
		labels := []any{}
		for i := range 40 {
			labels = append(labels, fmt.Sprintf("label_%d", i))
		}
		spec["podTargetLabels"] = labels
	}
	return m.shell(spec)
}

// expensive is a regular expression that costs much to compile or to match.
func (m *maker) expensive() string {
	return oneOf(m,
		"(.*a|.*b){900}z", "(a{0,30}){0,30}", "((a{0,10}){0,10}){0,10}", ".{1000}", "(.{0,100}x){10}", `\pL{1000}`, "(?i)[a-zé]{1000}", "(a|b|c|d|e){1000}",
		strings.Repeat("(a?)", 5000)+strings.Repeat("a", 5000), strings.Repeat("(", 990)+strings.Repeat(")", 990), strings.Repeat("(", 1001)+strings.Repeat(")", 1001),
		"("+strings.Repeat("a|", 50000)+"b)", strings.Repeat("[a-z]", 20000), strings.Repeat(".*", 3000), `\C`, "(?<n>a)", "a{1001}", `[\x{10ffff}-\x{110000}]`)
}

// longRegex is an expression of hundreds of kilobytes that is expensive to parse.
func (m *maker) longRegex() string {
	part := oneOf(m, ".", "^", "(a)", "a|", `\pL`, "[a-z]", "a*b+", `\d`, `A-\x{1e943}`)
	text := strings.Repeat(part, 500_000/len(part))
	return oneOf(m, text, "["+text+"]", "(?i)"+text, "(?i)["+text+"]")
}

// regexes has relabelings with expensive expressions.
func (m *maker) regexes() Manifest {
	o := m.base()
	list, size := []any{}, 0
	for range oneOf(m, 1, 12, 200) {
		regex := oneOf(m, m.expensive(), m.expensive(), m.expensive(), m.longRegex())
		if size += len(regex); size > stored {
			break
		}
		list = append(list, map[string]any{
			"action": oneOf(m, "keep", "drop", "labelmap", "labeldrop", "replace"), "regex": regex,
			"sourceLabels": []any{"__meta_kubernetes_pod_annotation_pin"}, "targetLabel": "a",
		})
	}
	spec := o["spec"].(map[string]any)
	field := oneOf(m, "relabelings", "metricRelabelings")
	switch m.kind.name {
	case "ServiceMonitor", "PodMonitor":
		endpoints, _ := spec[m.endpoints()].([]any)
		endpoints[0].(map[string]any)[field] = list
	case "Probe":
		spec["metricRelabelings"] = list
	default:
		spec[field] = list
	}
	return o
}

// largeCA refers to a CA that nearly fills its Secret.
func (m *maker) largeCA() Manifest {
	name := fmt.Sprintf("ca-%d", m.index)
	m.with = append(m.with, Manifest{
		"apiVersion": "v1", "kind": "Secret", "metadata": Manifest{"name": name, "namespace": m.namespace},
		"stringData": map[string]any{"ca": certificate() + strings.Repeat("\n", 700<<10)},
	})
	ref := map[string]any{"ca": map[string]any{"secret": map[string]any{"name": name, "key": "ca"}}}
	list := []any{map[string]any{"port": "w", "scheme": "https", "tlsConfig": ref}}
	return m.shell(map[string]any{"selector": map[string]any{}, m.endpoints(): list})
}

// certificate is a certificate in PEM form, of no authority. Ed25519 signs without chance.
var certificate = sync.OnceValue(func() string {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(4e9, 0), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		panic(err) // nothing about it depends on anything
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
})
