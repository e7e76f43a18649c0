package conversion

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1beta1"
)

// TestGolden converts the file in.yaml, of either version.
//
//	want/v1beta1.yaml    the result for a v1alpha1 object; v1alpha1.yaml that for a v1beta1 object
func TestGolden(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		in, _ := c.Input("in.yaml")
		raw, err := yaml.YAMLToJSON(in)
		if err != nil {
			return nil, err
		}
		version := beta
		if strings.Contains(string(in), "/v1beta1\n") {
			version = alpha
		}
		out, err := Convert(raw, version)
		if err != nil {
			return nil, err
		}
		return yaml.JSONToYAML(out)
	})
}

// object returns an object with a spec and optional annotations.
func object(version, annotations, spec string) string {
	return `{"apiVersion":"` + version + `","kind":"AlertmanagerConfig","metadata":{"name":"a","namespace":"b"` + annotations + `},"spec":` + spec + `}`
}

func convert(t *testing.T, raw, version string) string {
	t.Helper()
	out, err := Convert([]byte(raw), version)
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, raw)
	}
	return string(out)
}

// Everything that is the same in both versions is copied byte for byte, and none of it is an
// error.
func TestPassesThrough(t *testing.T) {
	for _, spec := range []string{
		`null`, `5`, `"text"`, `[]`, `{}`, `{ "route" : null }`, `{"route":[],"receivers":{},"inhibitRules":7}`,
		`{"receivers":[{"name":"a","webhookConfigs":[{"maxAlerts":3000000000}]}]}`,
		`{"receivers":[{"name":"a","webhookConfigs":[{"maxAlerts":123456789012345678901234567890.10e400}]}]}`,
		`{"receivers":[{"name":5,"opsgenieConfigs":[null,7,{"apiKey":"text","httpConfig":[]}]},null,[]]}`,
		`{"route":{"receiver":"a","routes":[{"Receiver":"a"}]}}`,
		`{"route":{"receiver":"a","routes":[{"receiver":"a","RECEIVER":"a"}]}}`,
		`{"route":{"receiver":"a","routes":[{"receiver":"a","receiver":"b"}]}}`,
		`{"route":{"receiver":"a","routes":[null,"x",5,[],{"foo":1},{"routes":[null]},{"routes":null},{"Routes":[{}]},{"continue":null}]}}`,
		`{"route":{"receiver":"a","routes":[{"matchers":{}},{"matchers":null},{"matchers":[null,5,"x"]}]}}`,
		`{"route":{"receiver":"a","routes":[{"matchers":[{"name":"x","matchType":5},{"regex":"yes"},{"matchType":"=","matchType":""},{"matchType":"!~","foo":1}]}]}}`,
		"{\"route\":\t{\"receiver\" :\n\"\\ud83d\\u0061 \u00e9\\\"}\\\\\" , \"groupWait\":1.0 }\r\n }",
		`{"muteTimeIntervals":[],"timeIntervals":{}}`,
	} {
		raw := object(alpha, "", spec)
		there := convert(t, raw, beta)
		if want := strings.Replace(raw, alpha, beta, 1); there != want {
			t.Errorf("v1beta1 is\n%s, want\n%s", there, want)
		}
		if back := convert(t, there, alpha); back != raw {
			t.Errorf("there and back is\n%s, want\n%s", back, raw)
		}
	}
}

// Each matcher gets the equivalent operator in v1beta1.
func TestMatchers(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                                          `{"matchType":"="}`,
		`{"name":"a"}`:                                `{"name":"a","matchType":"="}`,
		`{"name":"a","regex":true}`:                   `{"name":"a","matchType":"=~"}`,
		`{"name":"a","regex":false}`:                  `{"name":"a","matchType":"="}`,
		`{"regex":null,"value":"b"}`:                  `{"matchType":"=","value":"b"}`,
		`{"matchType":"","regex":true}`:               `{"matchType":"=~"}`,
		`{"regex":true,"matchType":null}`:             `{"matchType":"=~"}`,
		`{"matchType":"!=","regex":true,"value":"b"}`: `{"matchType":"!=","value":"b"}`,
	} {
		for _, form := range []string{
			`{"route":{"matchers":[%s]}}`, `{"route":{"routes":[{"routes":[{"matchers":[%s]}]}]}}`, `{"inhibitRules":[{"sourceMatch":[%s]}]}`, `{"inhibitRules":[{"targetMatch":[%s]}]}`,
		} {
			if got, want := convert(t, object(alpha, "", fmt.Sprintf(form, in)), beta), object(beta, "", fmt.Sprintf(form, want)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
}

// These are the only errors, and none of them is caused by spec.
func TestWhatIsNotConverted(t *testing.T) {
	good := object(alpha, "", "{}")
	for name, tc := range map[string]struct{ raw, version, want string }{
		"not JSON":        {"{", beta, "the object is not valid JSON"},
		"no object":       {"[]", beta, "the object is not a JSON object"},
		"another kind":    {strings.Replace(good, "AlertmanagerConfig", "Probe", 1), beta, "the kind has one version only"},
		"without kind":    {"{}", beta, "the kind has one version only"},
		"same version":    {good, alpha, `cannot convert from "` + alpha + `" to "` + alpha + `"`},
		"unknown version": {good, "monitoring.coreos.com/v2", `cannot convert from "` + alpha + `" to "monitoring.coreos.com/v2"`},
		"another source":  {strings.Replace(good, "v1alpha1", "v2", 1), beta, `cannot convert from "monitoring.coreos.com/v2"`},
	} {
		if _, err := Convert([]byte(tc.raw), tc.version); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
}

// A decoded object is converted with all its fields.
func TestFromBeta(t *testing.T) {
	in := &v1beta1.AlertmanagerConfig{}
	if err := json.Unmarshal([]byte(object(beta, "", `{"route":{"receiver":"a","routes":[{"Receiver":"b"}]},"timeIntervals":[{"name":"n"}]}`)), in); err != nil {
		t.Fatal(err)
	}
	before := in.DeepCopy()
	out, err := FromBeta(in)
	if err != nil {
		t.Fatal(err)
	}
	if out.APIVersion != alpha || len(out.Spec.MuteTimeIntervals) != 1 || string(out.Spec.Route.Routes[0].Raw) != `{"Receiver":"b"}` {
		t.Errorf("%+v", out)
	}
	if diff := cmp.Diff(before, in); diff != "" {
		t.Errorf("the argument has changed: %s", diff)
	}
}

// Fields that v1beta1 does not have are restored at their receiver, and nowhere else.
func TestCarried(t *testing.T) {
	const spec = `{"receivers":[{"name":"a","opsgenieConfigs":[{"updateAlerts":false,"apiKey":{"key":"k","name":"n","optional":true}}]},{"webhookConfigs":[{"httpConfig":{"bearerTokenSecret":{"key":"k","optional":false}}}],"name":"b"}]}`
	for name, annotations := range map[string]string{"none": "", "others": `,"annotations":{"x":"y"}`} {
		raw := object(alpha, annotations, spec)
		there := convert(t, raw, beta)
		if !strings.Contains(there, carriedAnnotation) {
			t.Fatalf("%s: nothing is carried: %s", name, there)
		}
		pruned := strings.NewReplacer(`"updateAlerts":false,`, "", `,"optional":true`, "", `,"optional":false`, "").Replace(there)
		var got, want any
		back := convert(t, pruned, alpha)
		if err := json.Unmarshal([]byte(back), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(raw), &want); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: back is\n%s, want\n%s", name, back, raw)
		}
		other := convert(t, strings.Replace(pruned, `"name":"n"`, `"name":"other"`, 1), alpha)
		if strings.Contains(other, `"optional":true`) || strings.Contains(other, carriedAnnotation) {
			t.Errorf("%s: a reference to another Secret is %s", name, other)
		}
	}
	junk := object(beta, `,"annotations":{"`+carriedAnnotation+`":"["}`, spec)
	if got := convert(t, junk, alpha); !strings.Contains(got, `"`+carriedAnnotation+`":"["`) {
		t.Errorf("an annotation of somebody else is gone: %s", got)
	}
}

// An object with the carried fields can still be updated in v1beta1.
func TestCarriesWhatFits(t *testing.T) {
	var receivers []string
	for i := range 20_000 {
		receivers = append(receivers, fmt.Sprintf(`{"name":"r%d","slackConfigs":[{"apiURL":{"key":"k","optional":true}}]}`, i))
	}
	there := convert(t, object(alpha, `,"annotations":{"x":"`+strings.Repeat("y", 100<<10)+`"}`, `{"receivers":[`+strings.Join(receivers, ",")+`]}`), beta)
	var head struct {
		Metadata struct{ Annotations map[string]string }
	}
	if err := json.Unmarshal([]byte(there), &head); err != nil {
		t.Fatal(err)
	}
	size := 0
	for k, v := range head.Metadata.Annotations {
		size += len(k) + len(v)
	}
	if size > mostAnnotations || size < mostAnnotations-2000 {
		t.Errorf("annotations of %d bytes", size)
	}
}

// The cost of a route tree is linear in the size of its text, independent of its depth.
func TestLinear(t *testing.T) {
	cost := func(spec string) (perByte float64) {
		raw := []byte(object(alpha, "", spec))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Convert(raw, beta); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(len(raw))
	}
	deep := func(depth, times int) string {
		one := strings.Repeat(`{"routes":[`, depth) + `{"matchers":[{"name":"a","regex":true}]}` + strings.Repeat("]}", depth)
		return `{"route":{"routes":[` + strings.Repeat(one+",", times) + `{}]}}`
	}
	flat := cost(deep(1, 20_000))
	for name, spec := range map[string]string{"deep": deep(4500, 20), "large": deep(1, 80_000)} {
		if got := cost(spec); got > 2*flat+1 {
			t.Errorf("%s: %.1f bytes allocated for one, %.1f of a small one", name, got, flat)
		}
	}
}
