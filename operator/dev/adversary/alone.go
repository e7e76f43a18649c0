package adversary

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"time"

	amcfg "github.com/prometheus/alertmanager/config"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/hostile"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/render"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/webhook/admission"
)

// Limits for a single object in a check, a review or a conversion.
const (
	aloneTime  = 30 * time.Second // generous, because the machine may be busy
	aloneBytes = 1 << 30          // allocated in total, not at the same time
)

// alone checks objects in this process, without a cluster.
type alone struct {
	*findings
	hooks   *http.ServeMux
	refused int
	stuck   bool // a check does not return
	slowest time.Duration
	largest uint64
}

// Alone passes objects to the operator's checks, the webhooks and the conversion. The configuration generated from
// accepted objects is parsed by the servers' own parsers. It needs no cluster.
//
// Errors: the setup fails.
func Alone(ctx context.Context, o Options) (Result, error) {
	began := time.Now()
	r := runner{Options: o, began: began}
	a := &alone{findings: newFindings(filepath.Join(o.Out, "findings"), r.say), hooks: http.NewServeMux()}
	admission.New(admission.Options{Kinds: kinds}).Register(a.hooks)
	source, err := hostile.New(hostile.Options{Seed: o.Seed, Namespace: hostileNS, Beta: true})
	if err != nil {
		return Result{}, err
	}
	said := time.Now()
	n := 0
	for ; n < o.Objects && ctx.Err() == nil && !a.stuck && (o.Duration == 0 || time.Since(began) < o.Duration); n++ {
		a.batch(o.From+n, o.From+n+1)
		a.object(source.Object(o.From + n))
		if time.Since(said) > o.Every {
			said = time.Now()
			r.say("objects %d, %d rejected; slowest %s, largest %d MiB; found %d", n, a.refused, a.slowest.Round(time.Millisecond), a.largest>>20, a.count())
		}
	}
	r.say("objects %d, %d rejected; slowest %s, largest %d MiB; found %d", n, a.refused, a.slowest.Round(time.Millisecond), a.largest>>20, a.count())
	return Result{Findings: a.list(), counts: counts{created: n, refused: map[string]int{"our own checks": a.refused}}, took: time.Since(began)}, nil
}

// object runs all checks on one object.
func (a *alone) object(o hostile.Object) {
	raw, err := json.Marshal(o.Manifest)
	if err != nil {
		return
	}
	version, _ := o.Manifest["apiVersion"].(string)
	wrong := func(kind Kind, format string, args ...any) {
		a.add(Finding{Kind: kind, Text: o.Kind + " (" + o.Strategy + "): " + fmt.Sprintf(format, args...), Objects: []hostile.Manifest{o.Manifest}})
	}
	if o.Kind == "AlertmanagerConfig" {
		a.converts(raw, version, wrong)
	}
	if version == "monitoring.coreos.com/v1beta1" {
		return // the API server converts it before an operator reads it
	}
	row := catalog.Of(o.Kind)
	var result error
	a.measured(wrong, "our own checks", func() { result = rejected(row, raw) })
	if a.stuck {
		return
	}
	if result != nil {
		a.refused++
	}
	a.reviewed(o, row, raw, result, wrong)
	if result == nil && !row.IsWorkload() {
		a.rendered(row, raw, wrong)
	}
}

// never is the time after which a check is considered stuck.
const never = 4 * aloneTime

// measured runs a check and reports a panic, excessive cost, or a check that does not return.
func (a *alone) measured(wrong func(Kind, string, ...any), what string, check func()) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if fault := recover(); fault != nil {
				wrong(Fault, "%s: panic: %v\n%s", what, fault, debug.Stack())
			}
		}()
		check()
	}()
	select {
	case <-done:
	case <-time.After(never):
		a.stuck = true
		wrong(Slow, "%s: does not end within %s", what, never)
		return
	}
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	n := after.TotalAlloc - before.TotalAlloc
	a.slowest, a.largest = max(a.slowest, took), max(a.largest, n)
	if took > aloneTime || n > aloneBytes {
		wrong(Slow, "%s: took %s and %d MiB", what, took.Round(time.Millisecond), n>>20)
	}
}

func (a *alone) post(path string, body any) *httptest.ResponseRecorder {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // body was decoded from JSON
	}
	rec, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, path, bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	a.hooks.ServeHTTP(rec, r)
	return rec
}

// reviewed calls the webhooks, which must reject at least the objects that the operator rejects.
func (a *alone) reviewed(o hostile.Object, row *catalog.Row, raw []byte, result error, wrong func(Kind, string, ...any)) {
	path := map[string]string{"PrometheusRule": admission.ValidateRulesPath, "AlertmanagerConfig": admission.ValidateAlertmanagerConfigsPath}[o.Kind]
	if path == "" {
		path = admission.ValidateObjectsPath
	}
	review := map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": map[string]any{
		"uid": "1", "operation": "CREATE", "namespace": hostileNS, "name": nameOf(o.Manifest),
		"kind":     map[string]any{"group": row.Group, "version": row.Version, "kind": row.Kind},
		"resource": map[string]any{"group": row.Group, "version": row.Version, "resource": row.Resource},
		"object":   json.RawMessage(raw),
	}}
	var rec *httptest.ResponseRecorder
	a.measured(wrong, path, func() { rec = a.post(path, review) })
	var answer struct {
		Response struct {
			Allowed bool `json:"allowed"`
			Status  struct {
				Message string `json:"message"`
			} `json:"status"`
		} `json:"response"`
	}
	switch {
	case rec == nil: // the call panicked
	case rec.Code != http.StatusOK:
		wrong(Unserved, "%s answers %d: %s", path, rec.Code, excerpt.Of(rec.Body.String(), 300))
	case json.Unmarshal(rec.Body.Bytes(), &answer) != nil:
		wrong(Unserved, "%s answers what is no AdmissionReview", path)
	case answer.Response.Allowed && result != nil:
		wrong(NotReported, "%s allows what is rejected: %s", path, excerpt.Of(result.Error(), 300))
	case !answer.Response.Allowed && answer.Response.Status.Message == "":
		wrong(NotReported, "%s refuses without a message", path)
	}
}

// converts converts an object to the other version and back, and reports lost fields.
func (a *alone) converts(raw []byte, version string, wrong func(Kind, string, ...any)) {
	other := "monitoring.coreos.com/v1beta1"
	if version == other {
		other = "monitoring.coreos.com/v1alpha1"
	}
	there, err := a.converted(raw, other, wrong)
	if err != nil {
		wrong(Unserved, "to %s: %v", other, err)
		return
	}
	back, err := a.converted(there, version, wrong)
	if err != nil {
		wrong(Unserved, "back to %s: %v", version, err)
		return
	}
	if want, got := normal(specOf(raw), ""), normal(specOf(back), ""); !reflect.DeepEqual(want, got) {
		wrong(Remains, "lost on the way to %s and back: %s", other, firstDifference(want, got, "spec"))
	}
}

func (a *alone) converted(raw []byte, version string, wrong func(Kind, string, ...any)) ([]byte, error) {
	review := map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": map[string]any{
		"uid": "1", "desiredAPIVersion": version, "objects": []json.RawMessage{raw},
	}}
	var rec *httptest.ResponseRecorder
	a.measured(wrong, admission.ConvertPath, func() { rec = a.post(admission.ConvertPath, review) })
	if rec == nil || rec.Code != http.StatusOK {
		return nil, fmt.Errorf("answers %v", rec)
	}
	var answer struct {
		Response struct {
			Result struct {
				Status  string `json:"status"`
				Message string `json:"message"`
			} `json:"result"`
			Converted []json.RawMessage `json:"convertedObjects"`
		} `json:"response"`
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &answer); err != nil {
		return nil, err
	}
	if answer.Response.Result.Status != "Success" || len(answer.Response.Converted) != 1 {
		return nil, errors.New(excerpt.Of(answer.Response.Result.Message, 500))
	}
	return answer.Response.Converted[0], nil
}

func specOf(raw []byte) any {
	var o struct {
		Spec any `json:"spec"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		return err.Error()
	}
	return o.Spec
}

// rendered compiles an accepted object into a configuration, which the server must accept.
func (a *alone) rendered(row *catalog.Row, raw []byte, wrong func(Kind, string, ...any)) {
	object := row.New()
	if err := manifest.DecodeStored(raw, object); err != nil {
		return
	}
	a.measured(wrong, "rendering", func() {
		all := manifests.Alone(kinds(), row, object, raw)
		all.References.Otherwise = manifests.Assumed(object)
		all.Add(catalog.Prometheus, selecting())
		all.Add(catalog.Alertmanager, selectingRoutes())
		workloads, err := render.Workloads(all, "")
		if err != nil {
			wrong(NotLoaded, "%v", err)
			return
		}
		for out := range render.Outputs(all, workloads) {
			a.parsed(out, wrong)
		}
	})
}

func (a *alone) parsed(out render.Output, wrong func(Kind, string, ...any)) {
	var config, files bytes.Buffer
	if err := errors.Join(out.Err, out.WriteTo(&config, "config"), out.WriteTo(&files, "rules")); err != nil {
		wrong(NotLoaded, "%s: %v", out.Workload, err)
		return
	}
	var err error
	if out.Workload.String() == "Alertmanager "+hostileNS+"/main" {
		_, err = amcfg.Load(config.String())
	} else {
		err = loadable(config.Bytes())
	}
	if err != nil {
		wrong(NotLoaded, "%s: %s", out.Workload, excerpt.Of(err.Error(), 1000))
	}
}

// selecting returns a Prometheus that selects everything in its namespace.
func selecting() *v1.Prometheus {
	p := &v1.Prometheus{}
	p.Namespace, p.Name = hostileNS, "main"
	all := everything()
	p.Spec.ServiceMonitorSelector, p.Spec.PodMonitorSelector, p.Spec.ProbeSelector, p.Spec.ScrapeConfigSelector, p.Spec.RuleSelector = all, all, all, all, all
	p.Spec.ScrapeInterval = "200y"
	return p
}

func selectingRoutes() *v1.Alertmanager {
	am := &v1.Alertmanager{}
	am.Namespace, am.Name = hostileNS, "main"
	am.Spec.AlertmanagerConfigSelector = everything()
	return am
}
