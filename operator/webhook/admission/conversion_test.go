package admission

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const alphaConfig = `{"apiVersion":"monitoring.coreos.com/v1alpha1","kind":"AlertmanagerConfig",
"metadata":{"name":"a","namespace":"demo","uid":"u","resourceVersion":"7","labels":{"l":"m"},"annotations":{"n":"o"},"generation":3},
"spec":{"receivers":[{"name":"r","emailConfigs":[{"to":"a@b"}],"webhookConfigs":[{"url":"http://h/","httpConfig":{"followRedirects":false}}]}],
"muteTimeIntervals":[{"name":"night"}],
"route":{"receiver":"r","matchers":[{"name":"a","value":"b"},{"name":"c","value":"d","regex":true}],"routes":[{"receiver":"r","continue":true,"matchers":[{"name":"e","value":"f","matchType":"!~"}]}]}}}`

// convertAll sends a ConversionReview.
func convertAll(t *testing.T, h *Handler, version string, objects ...string) *apiextensionsv1.ConversionResponse {
	t.Helper()
	r := apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{UID: "4711", DesiredAPIVersion: version}}
	r.APIVersion, r.Kind = "apiextensions.k8s.io/v1", "ConversionReview"
	for _, o := range objects {
		r.Request.Objects = append(r.Request.Objects, runtime.RawExtension{Raw: []byte(o)})
	}
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	w := post(t, h, ConvertPath, bytes.NewReader(body))
	var out apiextensionsv1.ConversionReview
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %v %s", w.Code, err, w.Body)
	}
	if out.APIVersion != r.APIVersion || out.Kind != r.Kind || out.Request != nil || out.Response.UID != "4711" {
		t.Errorf("answer %s", w.Body)
	}
	return out.Response
}

const (
	alphaVersion = "monitoring.coreos.com/v1alpha1"
	betaVersion  = "monitoring.coreos.com/v1beta1"
)

func TestConvert(t *testing.T) {
	there := convertAll(t, New(Options{}), betaVersion, alphaConfig, strings.Replace(alphaConfig, `"name":"a"`, `"name":"second"`, 1))
	if there.Result.Status != "Success" || len(there.ConvertedObjects) != 2 {
		t.Fatalf("%+v", there.Result)
	}
	beta := string(there.ConvertedObjects[0].Raw)
	for _, want := range []string{
		`"apiVersion":"` + betaVersion + `"`, `"uid":"u"`, `"resourceVersion":"7"`, `"labels":{"l":"m"}`, `"annotations":{"n":"o"}`,
		`"timeIntervals":[{"name":"night"}]`, `"matchType":"="`, `"matchType":"=~"`, `"matchType":"!~"`, `"continue":true`, `"followRedirects":false`, `"to":"a@b"`,
	} {
		if !strings.Contains(beta, want) {
			t.Errorf("no %s in %s", want, beta)
		}
	}
	if !strings.Contains(string(there.ConvertedObjects[1].Raw), `"name":"second"`) {
		t.Error("the order is another")
	}
	back := convertAll(t, New(Options{}), alphaVersion, beta)
	if back.Result.Status != "Success" {
		t.Fatalf("%+v", back.Result)
	}
	again := convertAll(t, New(Options{}), betaVersion, string(back.ConvertedObjects[0].Raw))
	if got := string(again.ConvertedObjects[0].Raw); got != beta {
		t.Errorf("there and back again is\n%s\nnot\n%s", got, beta)
	}
}

func TestFailedConversions(t *testing.T) {
	for name, tc := range map[string]struct{ version, object, want string }{
		"same version":    {alphaVersion, alphaConfig, `objects[1]: AlertmanagerConfig demo/a: cannot convert from "` + alphaVersion + `" to "` + alphaVersion + `"`},
		"unknown version": {"monitoring.coreos.com/v2", alphaConfig, `cannot convert from`},
		"another kind":    {betaVersion, strings.Replace(alphaConfig, `"AlertmanagerConfig"`, `"Probe"`, 1), "objects[1]: Probe demo/a: the kind has one version only"},
		"no object":       {betaVersion, `[]`, "objects[1]: "},
	} {
		t.Run(name, func(t *testing.T) {
			good := alphaConfig
			if tc.version == alphaVersion {
				good = strings.Replace(alphaConfig, alphaVersion, betaVersion, 1)
			}
			if tc.version == "monitoring.coreos.com/v2" {
				good = tc.object
			}
			r := convertAll(t, New(Options{}), tc.version, good, tc.object)
			if r.Result.Status != "Failure" || len(r.ConvertedObjects) > 0 || !strings.Contains(r.Result.Message, tc.want) {
				t.Errorf("%+v, want %s", r, tc.want)
			}
		})
	}
}

// No content of spec is a conversion error, because one object that cannot be converted makes
// its version unreadable for the whole cluster.
func TestContentConverts(t *testing.T) {
	for name, object := range map[string]string{
		"wrong type":         strings.Replace(alphaConfig, `"receiver":"r"`, `"receiver":1`, 1),
		"unknown field":      strings.Replace(alphaConfig, `"continue":true`, `"continues":true`, 1),
		"wrong case":         strings.Replace(alphaConfig, `"continue":true`, `"Receiver":"r"`, 1),
		"too large a number": strings.Replace(alphaConfig, `"url":"http://h/"`, `"maxAlerts":3000000000`, 1),
	} {
		there := convertAll(t, New(Options{}), betaVersion, alphaConfig, object)
		if there.Result.Status != "Success" || len(there.ConvertedObjects) != 2 {
			t.Errorf("%s: %+v", name, there.Result)
			continue
		}
		back := convertAll(t, New(Options{}), alphaVersion, string(there.ConvertedObjects[1].Raw))
		if back.Result.Status != "Success" {
			t.Errorf("%s: %+v", name, back.Result)
		}
	}
}

func TestUndecodableConversionReviews(t *testing.T) {
	for _, body := range []string{"{", "[]", `{"kind":"ConversionReview"}`} {
		if w := post(t, New(Options{}), ConvertPath, strings.NewReader(body)); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}

// A panic fails only one request, with an error message.
func TestConversionPanics(t *testing.T) {
	var log bytes.Buffer
	h := New(Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	_, err := h.guarded("AlertmanagerConfig demo/a", func() ([]byte, error) { panic("a fault") })
	if err == nil || err.Error() != "AlertmanagerConfig demo/a: the conversion panicked, see the log of the webhook" || !strings.Contains(log.String(), "a fault") {
		t.Errorf("%v\n%s", err, &log)
	}
}
