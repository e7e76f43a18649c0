package alertmanager

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/volume"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Templates are files beside the configuration, and pods are notified of changes. A
// missing template causes a warning and blocks nothing.
func TestTemplates(t *testing.T) {
	w := newFakeCluster(t)
	w.configs = []*v1alpha1.AlertmanagerConfig{routed("demo", "base", "r")}
	w.secrets["texts"] = map[string][]byte{"a.tmpl": []byte("one")}
	am := alertmanager(t, `alertmanagerConfiguration: {name: base, templates: [{configMap: {name: texts, key: a.tmpl}}]}`)
	in, before, err := w.plan(am)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(slices.Collect(in.References()), assets.Ref{Kind: assets.ConfigMap, Namespace: "demo", Name: "texts"}) {
		t.Error("the ConfigMap is not referred to")
	}
	w.secrets["texts"]["a.tmpl"] = []byte("two")
	_, after, err := w.plan(am)
	if err != nil || after.Hash == before.Hash || after.Delivered.Dirs[templatesDir] == before.Delivered.Dirs[templatesDir] || before.Delivered.Dirs[templatesDir] == "" {
		t.Errorf("%+v, then %+v: %v", before.Delivered, after.Delivered, err)
	}
	delete(w.secrets, "texts")
	_, without, err := w.plan(am)
	if err != nil || len(without.Warnings) != 1 || len(without.Delivered.Dirs) > 0 {
		t.Errorf("warnings %q, delivered %+v, %v", without.Warnings, without.Delivered, err)
	}
}

// Files that the user mounts are delivered like the configuration and verified in the
// pods, and so are the other keys of the user's Secret. A missing file blocks nothing.
func TestMountedFiles(t *testing.T) {
	w := newFakeCluster(t)
	w.secrets["alertmanager-main"] = map[string][]byte{"alertmanager.yaml": []byte("route: {receiver: a}\nreceivers: [{name: a}]\n"), "a.tmpl": []byte("one"), configKey: []byte("ours")}
	w.secrets["keys"] = map[string][]byte{"token": []byte("one")}
	am := alertmanager(t, `{secrets: [keys], configMaps: [texts]}`)
	in, before, err := w.plan(am)
	if err != nil || len(before.Warnings) != 1 || !strings.HasPrefix(before.Warnings[0].String(), `spec.configMaps[0]: ConfigMap "demo/texts" does not exist`) {
		t.Fatalf("warnings %q, %v", before.Warnings, err)
	}
	for _, ref := range []assets.Ref{{Kind: assets.Secret, Namespace: "demo", Name: "keys"}, {Kind: assets.ConfigMap, Namespace: "demo", Name: "texts"}} {
		if !slices.Contains(slices.Collect(in.References()), ref) {
			t.Errorf("%s is not referred to", ref)
		}
	}
	dirs := func(keys, extra string) map[string]string {
		return map[string]string{
			"/etc/alertmanager/secrets/keys": volume.SumFiles(map[string][]byte{"token": []byte(keys)}),
			"/etc/alertmanager/config":       volume.SumFiles(map[string][]byte{"a.tmpl": []byte(extra)}),
		}
	}
	if diff := cmp.Diff(dirs("one", "one"), before.Delivered.Dirs); diff != "" {
		t.Error(diff)
	}
	w.secrets["keys"]["token"] = []byte("two")
	_, keys, err := w.plan(am)
	if diff := cmp.Diff(dirs("two", "one"), keys.Delivered.Dirs); diff != "" || err != nil || keys.Hash == before.Hash {
		t.Errorf("another Secret: %v %s", err, diff)
	}
	w.secrets["alertmanager-main"]["a.tmpl"] = []byte("two")
	_, extra, err := w.plan(am)
	if diff := cmp.Diff(dirs("two", "two"), extra.Delivered.Dirs); diff != "" || err != nil || extra.Hash == keys.Hash {
		t.Errorf("another key of the user's Secret: %v %s", err, diff)
	}
	delete(w.secrets, "keys")
	if _, gone, err := w.plan(am); err != nil || len(gone.Warnings) != 2 || gone.Delivered.Dirs["/etc/alertmanager/secrets/keys"] != "" {
		t.Errorf("without the Secret: %+v, %v", gone.Delivered, err)
	}
	// The reloader watches every directory that is verified in the pods.
	watched := newBuilder(am, testConfig()).reloader().WatchedDirs
	for dir := range before.Delivered.Dirs {
		if !slices.Contains(watched, dir) {
			t.Errorf("the reloader does not watch %s, only %q", dir, watched)
		}
	}
}
