package render

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
	"github.com/firekeeper-dev/firekeeper/internal/volume/volumetest"
	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/expand"
)

const key = "prometheus.yaml.gz"

// entry is one file of an archive.
type entry struct {
	name, text string
	kind       byte // 0 means a regular file
}

func archiveOf(t testing.TB, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o600, Size: int64(len(e.text)), Typeflag: tar.TypeReg}
		if e.kind != 0 {
			h.Typeflag, h.Linkname, h.Size = e.kind, "/etc/passwd", 0
		}
		must(t, w.WriteHeader(h))
		_, err := w.Write([]byte(e.text)[:h.Size])
		must(t, err)
	}
	must(t, w.Close())
	return gz(t, b.String())
}

// sparse returns an archive with a file of 2,000,000 bytes that are not in it (GNU sparse format 1.0), which [tar.Writer]
// does not write.
func sparse(t testing.TB) string {
	t.Helper()
	text, err := base64.StdEncoding.DecodeString("H4sIAAAAAAACA+3UsQ4CIQwGYGaegicgBTmcmN3cfIAODGeO8wKa6D29jQyS24km129pUwZImp8Fn6I3IN65TyXbCmb49nXuB++E6v8y8ih3zHSl2Cdr1el80WXBXKJOeL3lYORmOs40BWl9O50xxYD6hWmSB9ee5IhTGdcYaJm27lQK9pfqAn+af9P+BbU/ggOhgPPfnZFNSDmmjDG2G29erf24AAwAAA==")
	must(t, err)
	return string(text)
}

func rulesOf(t testing.TB, files map[string]string) string {
	t.Helper()
	var entries []entry
	for _, name := range slices.Sorted(maps.Keys(files)) {
		entries = append(entries, entry{name: name, text: files[name]})
	}
	return archiveOf(t, entries...)
}

// spread splits a stream into n slices of about equal length.
func spread(stream string, n int) (out []string) {
	for i := range n {
		out = append(out, stream[len(stream)*i/n:len(stream)*(i+1)/n])
	}
	return out
}

// site is a volume like that of the kubelet, and a renderer for it.
type site struct {
	t   testing.TB
	vol *volumetest.Volume
	out string
	*Renderer
}

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{t: t, vol: volumetest.New(t), out: filepath.Join(t.TempDir(), "prometheus.env.yaml")}
	s.restart()
	return s
}

// restart recreates the renderer without its cached state.
func (s *site) restart() {
	s.Renderer = New(Options{
		Files: []File{{s.vol.Path(key), s.out}}, Expander: expand.New(expand.Kubernetes, []string{"A=1"}), MaxSize: 1 << 20,
	})
}

// files returns the keys for a configuration in n files and rules in m files. With n 1 and
// m 0 it is a configuration that needs no parts.
func files(t testing.TB, config string, n int, rules map[string]string, m int) map[string]string {
	t.Helper()
	slices := spread(gz(t, config[:len(config)/2], config[len(config)/2:]), n)
	if n == 1 && m == 0 {
		return map[string]string{key: slices[0]}
	}
	out, l := map[string]string{}, parts.List{}
	for i, text := range slices {
		name := key
		if i > 0 {
			name = parts.ConfigName(i)
		}
		out[name] = text
		l.Config = append(l.Config, parts.File{Name: name, SHA256: sum(text)})
	}
	for i, text := range spread(rulesOf(t, rules), m) {
		name := parts.RulesName(12 - i)
		out[name] = text
		l.Rules = append(l.Rules, parts.File{Name: name, SHA256: sum(text)})
	}
	text, err := l.Encode()
	must(t, err)
	out[parts.ListName] = string(text)
	return out
}

// unpacked reads the rules like a server does.
func (s *site) unpacked() map[string]string {
	s.t.Helper()
	paths, err := filepath.Glob(filepath.Join(filepath.Dir(s.out), RulesDir, "*.yaml"))
	must(s.t, err)
	out := map[string]string{}
	for _, p := range paths {
		out[filepath.Base(p)] = read(s.t, p)
	}
	return out
}

func (s *site) render() Result {
	s.t.Helper()
	res, err := s.Render(s.t.Context())
	must(s.t, err)
	return res[0]
}

func (s *site) expect(config string, rules map[string]string) {
	s.t.Helper()
	res := s.render()
	if got := read(s.t, s.out); got != config {
		s.t.Errorf("output %.60q, want %.60q", got, config)
	}
	if got := s.unpacked(); !maps.Equal(got, rules) && len(got)+len(rules) > 0 {
		s.t.Errorf("rules %v, want %v", got, rules)
	}
	if (res.Rules != nil) != (len(rules) > 0) {
		s.t.Errorf("reported rules %+v", res.Rules)
	}
	if res.Rules != nil {
		content := map[string][]byte{}
		for name, text := range rules {
			content[name] = []byte(text)
		}
		if res.Rules.SHA256 != volume.SumFiles(content) || res.Rules.Files != len(rules) {
			s.t.Errorf("reported rules %+v", res.Rules)
		}
	}
}

// leftovers returns the names next to the output and the linked rules.
func (s *site) leftovers() (names []string) {
	s.t.Helper()
	entries, err := os.ReadDir(filepath.Dir(s.out))
	must(s.t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
