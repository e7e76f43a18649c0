package routing

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// without reads references of which some are forbidden, and all others do not exist.
type without []assets.Ref

func (w without) Object(ref assets.Ref) (assets.Object, error) {
	for _, r := range w {
		if r == ref {
			return assets.Object{}, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, ref.Name, errors.New("not allowed"))
		}
	}
	return assets.Object{}, &assets.NotFoundError{Ref: ref}
}

// Values that may not be read are replaced if a field refers to their key, and only then.
func TestAssumed(t *testing.T) {
	keys, base := assets.Ref{Namespace: "demo", Name: "keys"}, assets.Ref{Namespace: "demo", Name: "base"}
	config := &v1alpha1.AlertmanagerConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "demo"}, Spec: v1alpha1.AlertmanagerConfigSpec{Receivers: []v1alpha1.Receiver{{
		SlackConfigs: []v1alpha1.SlackConfig{{APIURL: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "keys"}, Key: "url"}}},
	}}}}
	a := newAssumed(without{keys, base}, []catalog.Object{config})
	if o, err := a.Object(keys); err != nil || !strings.HasPrefix(string(o.Values["url"]), "https://") {
		t.Errorf("a value of a receiver: %v, %v", o, err)
	}
	if o, err := a.Object(base); !apierrors.IsForbidden(err) {
		t.Errorf("a Secret that is read as a whole: %v, %v", o, err)
	}
	if _, err := a.Object(assets.Ref{Namespace: "demo", Name: "none"}); !assets.IsNotFound(err) {
		t.Errorf("what does not exist: %v", err)
	}
	if diff := cmp.Diff([]string{`Secret "demo/keys"`}, a.refused()); diff != "" {
		t.Error(diff)
	}
}

// An Alertmanager is chosen by its name, or because there is no other.
func TestTheOne(t *testing.T) {
	a, b := types.NamespacedName{Namespace: "demo", Name: "a"}, types.NamespacedName{Namespace: "demo", Name: "b"}
	for name, tc := range map[string]struct {
		all   []types.NamespacedName
		named string
		want  int
		err   string
	}{
		"the only one": {[]types.NamespacedName{a}, "", 0, ""},
		"named":        {[]types.NamespacedName{a, b}, "demo/b", 1, ""},
		"several":      {[]types.NamespacedName{a, b}, "", 0, "several Alertmanagers here: name one with --alertmanager (demo/a, demo/b)"},
		"another":      {[]types.NamespacedName{a, b}, "demo/c", 0, "no Alertmanager demo/c here (demo/a, demo/b)"},
		"none":         {nil, "", 0, "no Alertmanager here"},
	} {
		got, err := theOne(tc.all, tc.named, func(n types.NamespacedName) types.NamespacedName { return n }, "here")
		if text := strings.TrimPrefix(fmt.Sprint(err), "<nil>"); text != tc.err || err == nil && got != tc.want {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
}

// A configuration is read plain or compressed.
func TestReadConfig(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte("route: {}"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"plain": "route: {}", "compressed": zipped.String()} {
		if got, err := ReadConfig(strings.NewReader(text)); err != nil || string(got) != "route: {}" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := ReadConfig(strings.NewReader(zipped.String()[:12])); err == nil {
		t.Error("a truncated file is read")
	}
}
