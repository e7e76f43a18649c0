package amconversion

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1beta1"
	"github.com/firekeeper-dev/firekeeper/operator/manifest"
)

// TestGolden converts the file in.yaml, of either version.
//
//	want/v1beta1.yaml    what a v1alpha1 object becomes; v1alpha1.yaml what a v1beta1 object does
//	want/error           why it is not converted
func TestGolden(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		raw, _ := c.Input("in.yaml")
		var out any
		var err error
		if strings.Contains(string(raw), "/v1beta1\n") {
			in := &v1beta1.AlertmanagerConfig{}
			if err := manifest.Decode(raw, in); err != nil {
				return nil, err
			}
			out, err = FromBeta(in)
		} else {
			in := &v1alpha1.AlertmanagerConfig{}
			if err := manifest.Decode(raw, in); err != nil {
				return nil, err
			}
			out, err = ToBeta(in)
		}
		if name == "error" {
			if err == nil {
				return nil, nil
			}
			return []byte(err.Error() + "\n"), nil
		}
		if err != nil {
			return nil, err
		}
		return yaml.Marshal(out)
	})
}

// onlyIn are the fields that one version has and the other has not: what becomes of each.
var onlyIn = map[string]string{
	"v1alpha1.Matcher.regex":               "is in matchType",
	"v1.SecretKeySelector.optional":        "is lost",
	"v1alpha1.OpsGenieConfig.updateAlerts": "is lost",
}

// TestEveryFieldHasACounterpart walks the types of both versions side by side, so that a
// field that is new in one of them is not forgotten.
func TestEveryFieldHasACounterpart(t *testing.T) {
	unused := maps.Clone(onlyIn)
	for _, pair := range [][2]reflect.Type{
		{reflect.TypeFor[v1alpha1.AlertmanagerConfig](), reflect.TypeFor[v1beta1.AlertmanagerConfig]()},
		{reflect.TypeFor[v1beta1.AlertmanagerConfig](), reflect.TypeFor[v1alpha1.AlertmanagerConfig]()},
		{reflect.TypeFor[alphaRoute](), reflect.TypeFor[betaRoute]()},
		{reflect.TypeFor[betaRoute](), reflect.TypeFor[alphaRoute]()},
	} {
		seen := map[reflect.Type]bool{}
		counterparts(t, pair[0], pair[1], unused, seen)
		if len(seen) < 2 {
			t.Errorf("looked at %v only", seen)
		}
	}
	for field := range unused {
		t.Errorf("%s has a counterpart", field)
	}
}

func counterparts(t *testing.T, from, to reflect.Type, unused map[string]string, seen map[reflect.Type]bool) {
	for from.Kind() == reflect.Pointer || from.Kind() == reflect.Slice {
		if to.Kind() != from.Kind() {
			t.Errorf("%s is a %s, %s is a %s", from, from.Kind(), to, to.Kind())
			return
		}
		from, to = from.Elem(), to.Elem()
	}
	if from == to || seen[from] {
		return
	}
	seen[from] = true
	if from.Kind() != reflect.Struct {
		if from.Kind() != to.Kind() {
			t.Errorf("%s is a %s, %s is a %s", from, from.Kind(), to, to.Kind())
		}
		return
	}
	there := fields(to)
	for name, index := range fields(from) {
		full := from.String() + "." + name
		if other, ok := renamed[from][name]; ok {
			name = other
		}
		target, ok := there[name]
		_, known := onlyIn[full]
		switch {
		case ok && known:
		case ok:
			counterparts(t, from.FieldByIndex(index).Type, to.FieldByIndex(target).Type, unused, seen)
		case known:
			delete(unused, full)
		default:
			t.Errorf("%s has no field for %s", to, full)
		}
	}
}

// FuzzAlpha: from v1alpha1 to v1beta1 and back nothing is lost but what v1beta1 cannot say.
func FuzzAlpha(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		in := &v1alpha1.AlertmanagerConfig{}
		random{rand.New(rand.NewPCG(seed, 0)), reflect.TypeFor[alphaRoute]()}.fill(reflect.ValueOf(in).Elem(), 0)
		before := in.DeepCopy()
		beta, err := ToBeta(in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, in); diff != "" {
			t.Fatalf("the argument has changed: %s", diff)
		}
		back, err := FromBeta(beta)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tree(t, in, true), tree(t, back, true)); diff != "" {
			t.Error(diff)
		}
	})
}

// FuzzBeta: from v1beta1 to v1alpha1 and back nothing is lost.
func FuzzBeta(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		in := &v1beta1.AlertmanagerConfig{}
		random{rand.New(rand.NewPCG(seed, 0)), reflect.TypeFor[betaRoute]()}.fill(reflect.ValueOf(in).Elem(), 0)
		alpha, err := FromBeta(in)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ToBeta(alpha)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tree(t, in, false), tree(t, back, false)); diff != "" {
			t.Error(diff)
		}
	})
}

// tree is an object as JSON, in which every matcher has an operator; without what
// v1beta1 cannot say when alpha is set.
func tree(t *testing.T, object any, alpha bool) any {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	spec, _ := out["spec"].(map[string]any)
	normalise(spec, alpha)
	return out
}

var (
	matcherKeys  = []string{"matchers", "sourceMatch", "targetMatch"}
	selectorKeys = []string{ // of the v1beta1 type
		"routingKey", "serviceKey", "apiURL", "urlSecret", "apiKey", "apiSecret", "authPassword", "authSecret", "userKey", "botToken",
		"bearerTokenSecret", "token",
	}
)

func normalise(v any, alpha bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			normalise(item, alpha)
		}
	case map[string]any:
		for key, value := range v {
			matchers, is := value.([]any)
			if slices.Contains(matcherKeys, key) && is {
				for _, m := range matchers {
					operator(m.(map[string]any))
				}
			}
			selector, is := value.(map[string]any)
			if alpha && is && slices.Contains(selectorKeys, key) {
				delete(selector, "optional")
				if selector["name"] == "" {
					delete(selector, "name")
				}
			}
			normalise(value, alpha)
		}
		if alpha {
			delete(v, "updateAlerts")
		}
	}
}

func operator(m map[string]any) {
	if m["matchType"] == nil {
		m["matchType"] = "="
		if m["regex"] == true {
			m["matchType"] = "=~"
		}
	}
	delete(m, "regex")
}

// random fills values.
type random struct {
	*rand.Rand
	child reflect.Type // of the child routes
}

func (r random) fill(v reflect.Value, depth int) {
	switch at := v.Addr().Interface().(type) {
	case *metav1.ObjectMeta:
		at.Name, at.Namespace = "a", "b"
		return
	case *metav1.Time:
		*at = metav1.NewTime(time.Unix(int64(r.IntN(1e9)), 0))
		return
	case *[]apiextensionsv1.JSON:
		for range r.IntN(3) {
			child := reflect.New(r.child)
			r.fill(child.Elem(), depth+4)
			text, err := json.Marshal(child.Interface())
			if err != nil {
				panic(err)
			}
			*at = append(*at, apiextensionsv1.JSON{Raw: text})
		}
		return
	case *metav1.TypeMeta:
		return
	case **corev1.SecretKeySelector:
		if r.IntN(2) == 0 {
			*at = &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "n"}, Key: "k"}
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			r.fill(v.Field(i), depth+1)
		}
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			r.fill(v.Elem(), depth)
		}
	case reflect.Slice:
		if n := r.IntN(3); n > 0 && depth < 14 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				r.fill(v.Index(i), depth+1)
			}
		}
	case reflect.Map:
		if r.IntN(2) == 0 {
			v.Set(reflect.MakeMap(v.Type()))
			value := reflect.New(v.Type().Elem()).Elem()
			r.fill(value, depth+1)
			v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), value)
		}
	case reflect.String:
		v.SetString([]string{"", "a", "x<y>&z", "\u00e9\u2028"}[r.IntN(4)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.IntN(9)) - 4)
	}
}

// A tree of routes whose depth is that of an attack is converted in time that grows with
// its size, or refused.
func TestDeepRoutes(t *testing.T) {
	const depth = 9000
	raw := strings.Repeat(`{"routes":[`, depth) + "{}" + strings.Repeat("]}", depth)
	in := &v1alpha1.AlertmanagerConfig{Spec: v1alpha1.AlertmanagerConfigSpec{Route: &v1alpha1.Route{
		Receiver: "a", Routes: []apiextensionsv1.JSON{{Raw: []byte(raw)}},
	}}}
	start := time.Now()
	_, err := ToBeta(in)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %s, err = %v", took, err)
	}
}
