package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/internal/reload/reloadtest"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
)

// inParts returns the keys of a configuration that is split into two files and has a rule
// file.
func inParts(t testing.TB, text, rule string) map[string]string {
	t.Helper()
	stream := gz(t, text)
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	must(t, w.WriteHeader(&tar.Header{Name: "a.yaml", Size: int64(len(rule)), Mode: 0o644}))
	_, err := w.Write([]byte(rule))
	must(t, err)
	must(t, w.Close())
	files := map[string]string{key: stream[:len(stream)-1], parts.ConfigName(1): stream[len(stream)-1:], parts.RulesName(12): gz(t, archive.String())}
	file := func(name string) parts.File {
		sum := sha256.Sum256([]byte(files[name]))
		return parts.File{Name: name, SHA256: hex.EncodeToString(sum[:])}
	}
	list, err := parts.List{
		Config: parts.Stream{file(key), file(parts.ConfigName(1))}, Rules: parts.Stream{file(parts.RulesName(12))},
	}.Encode()
	must(t, err)
	files[parts.ListName] = string(list)
	return files
}

// A configuration that grows into parts in two updates is reloaded once. The report
// covers all parts, and no incomplete version is loaded.
func TestConfigurationGrowsIntoParts(t *testing.T) {
	s := newSite(t)
	s.put(t, "small")
	p := start(t, s.args("--log-level=debug")...)
	s.waitLive(t, "small")
	large := inParts(t, "large", "groups: []\n")
	early := maps.Clone(large) // the list arrives before a part
	delete(early, parts.ConfigName(1))
	s.vol.Swap(early)
	p.Until("the part is missed", func() bool { return strings.Contains(p.Log.String(), "config-1.gz (missing)") })
	if s.running() != "small" || strings.Contains(p.Log.String(), "level=error") {
		t.Errorf("running %q, log:\n%s", s.running(), p.Log)
	}
	s.vol.Swap(large)
	s.waitLive(t, "large")
	p.Until("the report", func() bool { return p.Report().Ready })
	r := p.Report()
	list, err := parts.Parse([]byte(large[parts.ListName]), key)
	must(t, err)
	if len(r.Current.Files) != 1 || r.Current.Files[0].InputSHA256 != list.Config.Sum() {
		t.Errorf("reported files %+v", r.Current.Files)
	}
	rules := filepath.Join(filepath.Dir(s.out), "rules")
	found := false
	for _, d := range r.Current.Dirs {
		found = found || d.Path == rules && d.SHA256 == volume.SumFiles(map[string][]byte{"a.yaml": []byte("groups: []\n")})
	}
	if !found || read(t, filepath.Join(rules, "a.yaml")) != "groups: []\n" {
		t.Errorf("reported folders %+v", r.Current.Dirs)
	}
	// A change of only the rules is reloaded too.
	s.vol.Swap(inParts(t, "large", "groups: [] # changed\n"))
	s.server.Wait(t, "the rules", func(st reloadtest.Stats) bool { return st.Loaded == 3 })
	s.put(t, "small")
	s.waitLive(t, "small")
	if _, err := os.Lstat(rules); err == nil {
		t.Error("the rules are still there")
	}
	if st := s.server.Stats(); st.Loaded != 4 {
		t.Errorf("%d reloads for 4 contents", st.Loaded)
	}
}

func TestInitContainerWaitsForAllParts(t *testing.T) {
	s := newSite(t)
	whole := inParts(t, "large", "groups: []\n")
	early := maps.Clone(whole)
	early[parts.RulesName(12)] = "old"
	s.vol.Swap(early)
	log := &logtest.Log{}
	code := make(chan int, 1)
	go func() {
		args := []string{"--watch-interval=0", "--log-level=debug", "--config-file=" + s.vol.Path(key), "--config-envsubst-file=" + s.out}
		code <- run(t.Context(), args, nil, log, log)
	}()
	for !strings.Contains(log.String(), "rules-12.tar.gz (another version)") {
		select {
		case c := <-code:
			t.Fatalf("ended with %d before all was there:\n%s", c, log)
		case <-time.After(5 * time.Millisecond):
		}
	}
	if _, err := os.Stat(s.out); err == nil {
		t.Error("wrote an output")
	}
	s.vol.Swap(whole)
	if c := <-code; c != 0 {
		t.Fatalf("exit code %d:\n%s", c, log.String())
	}
	if got := read(t, s.out); got != "large" || read(t, filepath.Join(filepath.Dir(s.out), "rules", "a.yaml")) != "groups: []\n" {
		t.Errorf("output %q", got)
	}
}
