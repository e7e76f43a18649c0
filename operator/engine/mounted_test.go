package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// shelf holds objects of the namespace team and counts reads.
type shelf struct {
	objects map[assets.Ref]assets.Object
	broken  bool
	reads   int
}

func (s *shelf) Object(ref assets.Ref) (assets.Object, error) {
	s.reads++
	if s.broken {
		return assets.Object{}, errors.New("no answer")
	}
	o, ok := s.objects[ref]
	if !ok {
		return o, &assets.NotFoundError{Ref: ref}
	}
	return o, nil
}

func (s *shelf) current(deps []assets.Dependency) bool {
	return !slices.ContainsFunc(deps, func(d assets.Dependency) bool { return s.objects[d.Ref].Version != d.Version })
}

func (s *shelf) put(kind assets.Kind, name string, files map[string][]byte) {
	s.objects[assets.Ref{Kind: kind, Namespace: "team", Name: name}] = assets.Object{Version: fmt.Sprint(files), Values: files}
}

// MountedFiles files are summed up by folder. Missing objects cause warnings but do not block the rest.
func TestMounts(t *testing.T) {
	s := &shelf{objects: map[assets.Ref]assets.Object{}}
	s.put(assets.Secret, "keys", map[string][]byte{"tls.key": []byte("k1"), "tls.crt": []byte("c1")})
	s.put(assets.ConfigMap, "texts", map[string][]byte{"a.tmpl": []byte("a"), "b.tmpl": []byte("b")})
	w := &v1.ThanosRuler{}
	w.Namespace, w.UID = "team", "w"
	folders := append(UserFolders(workload.UserMounts("/etc/x", []string{"keys"}, []string{"texts", "late"})), Folder{
		Path: "/etc/x/templates", Sources: []Source{{"spec.templates", assets.ConfigMap, "texts", "b.tmpl"}},
	})
	var m Mounts
	read := func() MountedFiles {
		t.Helper()
		out, err := m.Read(w, Cluster{References: s, Current: s.current}, folders)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := read()
	want := map[string]string{
		"/etc/x/secrets/keys":     volume.SumFiles(map[string][]byte{"tls.key": []byte("k1"), "tls.crt": []byte("c1")}),
		"/etc/x/configmaps/texts": volume.SumFiles(map[string][]byte{"a.tmpl": []byte("a"), "b.tmpl": []byte("b")}),
		"/etc/x/templates":        volume.SumFiles(map[string][]byte{"b.tmpl": []byte("b")}),
	}
	if diff := cmp.Diff(want, first.Dirs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`spec.configMaps[1]: ConfigMap "team/late" does not exist`}, faults.Texts(first.Warnings)); diff != "" {
		t.Error(diff)
	}
	if len(first.Deps) != 3 {
		t.Errorf("depends on %v", first.Deps)
	}
	if s.reads = 0; read().Dirs["/etc/x/templates"] == "" || s.reads > 0 {
		t.Errorf("%d reads though nothing changed", s.reads)
	}

	sums := func(m MountedFiles) string {
		var out strings.Builder
		for dir, sum := range m.Sums() {
			fmt.Fprintf(&out, "%s %x\n", dir, sum)
		}
		return out.String()
	}
	s.put(assets.ConfigMap, "late", map[string][]byte{})
	if late := read(); len(late.Warnings) > 0 || late.Dirs["/etc/x/configmaps/late"] == "" || sums(late) == sums(first) {
		t.Errorf("once it is there: %+v", late)
	}
	s.put(assets.ConfigMap, "texts", map[string][]byte{"a.tmpl": []byte("a2")})
	changed := read()
	if changed.Dirs["/etc/x/configmaps/texts"] == want["/etc/x/configmaps/texts"] || changed.Dirs["/etc/x/templates"] != "" {
		t.Errorf("after a change: %v", changed.Dirs)
	}
	if diff := cmp.Diff([]string{`spec.templates: ConfigMap "team/texts" has no key "b.tmpl"`}, faults.Texts(changed.Warnings)); diff != "" {
		t.Error(diff)
	}
	w.Generation++
	s.broken = true
	if _, err := m.Read(w, Cluster{References: s, Current: s.current}, folders); !assets.IsTemporary(err) {
		t.Errorf("an API server that does not answer: %v", err)
	}
}
